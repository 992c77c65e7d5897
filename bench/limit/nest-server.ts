import { createPublicKey, createSecretKey, randomBytes, randomUUID, verify } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import {
  Body,
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  HttpCode,
  Injectable,
  Module,
  Post,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsBase64 } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { jwtVerify, SignJWT } from 'jose';
import 'reflect-metadata';
import { DataSource, In, Repository } from 'typeorm';
import { AccountEntity } from '../../src/server/storage/entities/account.entity.js';
import { AuditEventEntity } from '../../src/server/storage/entities/audit-event.entity.js';
import { PushTokenEntity } from '../../src/server/storage/entities/push-token.entity.js';
import { SessionEntity } from '../../src/server/storage/entities/session.entity.js';
import { NamingStrategy } from '../../src/server/storage/naming-strategy.js';

/**
 * A server as people write it with Nest, on the same tables: tokens are JWTs, a guard reads their session at each request,
 * and a login stores it in a transaction. It has neither limits nor a log, and ends no live connection.
 */
const input = JSON.parse(process.argv[2] ?? '') as {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly accountIds: readonly string[];
};
const ENTITIES = [AccountEntity, AuditEventEntity, PushTokenEntity, SessionEntity];
const ALGORITHM = 'HS256';
const secret = createSecretKey(randomBytes(32));

class LoginBody {
  @IsBase64() publicKey!: string;
  @IsBase64() challenge!: string;
  @IsBase64() signature!: string;
}

interface AuthenticatedRequest extends FastifyRequest {
  accountId: string;
}

const AccountId = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<AuthenticatedRequest>().accountId,
);

@Injectable()
class AuthService {
  constructor(
    private readonly database: DataSource,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    @InjectRepository(SessionEntity) private readonly sessions: Repository<SessionEntity>,
  ) {}

  async logIn(body: LoginBody) {
    const [publicKey, challenge, signature] = [body.publicKey, body.challenge, body.signature].map(
      (text) => Buffer.from(text, 'base64'),
    ) as [Buffer, Buffer, Buffer];
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
    const account = await this.accounts.findOneBy({ publicKey });
    const isGenuine = verify(
      null,
      challenge,
      createPublicKey({ key: jwk, format: 'jwk' }),
      signature,
    );
    if (account === null || account.disabledAt !== null || !isGenuine) {
      throw new UnauthorizedException();
    }
    const session = this.sessions.create({
      id: randomUUID(),
      accountId: account.id,
      tokenEpoch: account.tokenEpoch,
      createdAt: new Date(),
      lastSeenAt: new Date(),
      expiresAt: new Date(Date.now() + 30 * 24 * 3600 * 1000),
      method: 'key_challenge',
    });
    await this.database.transaction(async (transaction) => {
      await transaction.insert(SessionEntity, session);
      await transaction.insert(AuditEventEntity, {
        at: new Date(),
        kind: 'logged-in',
        actor: 'user',
        accountId: account.id,
        sessionId: session.id,
      });
    });
    const token = await this.tokenOf(session);
    return { success: true, token, accountId: account.id, created: false };
  }

  /** @returns the id of the account */
  async authenticate(token: string): Promise<string> {
    const { payload } = await jwtVerify(token, secret, { algorithms: [ALGORITHM] });
    const session = await this.sessions.findOneBy({ id: payload.jti ?? '' });
    const account = await this.accounts.findOneBy({ id: session?.accountId ?? randomUUID() });
    if (session === null || account === null || account.disabledAt !== null) {
      throw new UnauthorizedException();
    }
    return account.id;
  }

  /** @returns a token of a session of each account */
  async tokensOf(accountIds: readonly string[]): Promise<string[]> {
    const sessions = await this.sessions.findBy({ accountId: In([...accountIds]) });
    return Promise.all(sessions.map((session) => this.tokenOf(session)));
  }

  private tokenOf({ id, accountId }: SessionEntity): Promise<string> {
    const claims = new SignJWT().setSubject(accountId).setJti(id).setExpirationTime('30 d');
    return claims.setProtectedHeader({ alg: ALGORITHM }).sign(secret);
  }
}

@Injectable()
class AuthGuard implements CanActivate {
  constructor(private readonly auth: AuthService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const [, token = ''] = (request.headers.authorization ?? '').split(' ');
    request.accountId = await this.auth.authenticate(token);
    return true;
  }
}

@Controller('v1')
class AppController {
  constructor(
    private readonly auth: AuthService,
    @InjectRepository(PushTokenEntity) private readonly tokens: Repository<PushTokenEntity>,
  ) {}

  @Post('auth')
  @HttpCode(200)
  logIn(@Body() body: LoginBody) {
    return this.auth.logIn(body);
  }

  @Get('push-tokens')
  @UseGuards(AuthGuard)
  async list(@AccountId() accountId: string) {
    const found = await this.tokens.find({ where: { accountId }, order: { updatedAt: 'DESC' } });
    return {
      tokens: found.map(({ id, token, clientServerUrl, name, platform, createdAt, updatedAt }) => ({
        id,
        token,
        clientServerUrl,
        name,
        platform,
        createdAt: createdAt.getTime(),
        updatedAt: updatedAt.getTime(),
      })),
    };
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: input.databaseUrl,
      poolSize: input.poolSize,
      entities: ENTITIES,
      namingStrategy: new NamingStrategy(),
    }),
    TypeOrmModule.forFeature(ENTITIES),
  ],
  controllers: [AppController],
  providers: [AuthService, AuthGuard],
})
class AppModule {}

const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), {
  logger: false,
});
app.useGlobalPipes(new ValidationPipe({ whitelist: true }));
await app.listen(0, '127.0.0.1');
const { port } = app.getHttpServer().address() as AddressInfo;
process.send?.({ port, tokens: await app.get(AuthService).tokensOf(input.accountIds) });
