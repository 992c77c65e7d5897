import { Inject, Injectable } from '@nestjs/common';
import { jwtVerify } from 'jose';
import { AppError, orRefuse } from '../../common/errors.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import { ClientAuthenticationService } from './client-authentication.service.js';
import type { TokenForm } from './oauth.dto.js';
import { SigningKeysService } from './signing-keys.service.js';
import { signToken } from './token-signature.js';

/** The audience of each scope of a backend's own tokens, below the address of this server. */
const AUDIENCES = {
  'ssf.manage': '/v1/ssf',
  'ssf.read': '/v1/ssf',
  introspect: '/v1/oauth/introspect',
} as const;

export type ClientScope = keyof typeof AUDIENCES;

export const CLIENT_SCOPES = Object.keys(AUDIENCES) as readonly ClientScope[];

const TYPE = 'at+jwt';
const ALGORITHM = 'ES256';
const SUBJECT_PREFIX = 'client:';
const LIFETIME_SECONDS = 300;

/** Access tokens of backends for routes of this server (RFC 9068), which no backend accepts. */
@Injectable()
export class ClientTokenService {
  private readonly issuer: string;

  constructor(
    private readonly clients: ClientAuthenticationService,
    private readonly keys: SigningKeysService,
    private readonly runtime: Runtime,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
    @Inject(httpConfig.KEY) http: HttpSettings,
  ) {
    this.issuer = http.publicUrl ?? '';
  }

  /**
   * Issues a token to a backend that authenticates (RFC 6749, 4.4).
   *
   * @throws AppError `invalid-scope`, and as {@link ClientAuthenticationService.authenticate}
   */
  async grant(authorization: string | undefined, form: TokenForm) {
    const iat = Math.floor(this.runtime.clock.now() / 1000);
    const { id } = await this.clients.authenticate(authorization, form);
    const scopes = scopesOf(form.scope);
    const token = await signToken(this.keys.current(ALGORITHM), TYPE, {
      iss: this.issuer,
      aud: [...new Set(scopes.map((one) => this.audienceOf(one)))],
      sub: `${SUBJECT_PREFIX}${id}`,
      iat,
      exp: iat + LIFETIME_SECONDS,
      jti: this.runtime.random.uuid(),
      client_id: id,
      scope: scopes.join(' '),
    });
    return { token, scope: scopes.join(' '), expiresIn: LIFETIME_SECONDS };
  }

  /**
   * Returns the backend that calls with this token.
   *
   * @throws AppError `missing-token`, `invalid-token`, `insufficient-scope`
   */
  async authenticate(
    token: string | undefined,
    scope: ClientScope,
  ): Promise<ResourceServerSettings> {
    if (token === undefined) {
      throw new AppError('missing-token');
    }
    const { id, scopes } = await this.verify(token, this.audienceOf(scope));
    const server = orRefuse(
      this.servers.find((one) => one.id === id),
      'invalid-token',
    );
    if (!scopes.includes(scope)) {
      throw new AppError('insufficient-scope');
    }
    return server;
  }

  private async verify(
    token: string,
    audience: string,
  ): Promise<{ readonly id: string; readonly scopes: readonly string[] }> {
    const key = orRefuse(await this.keys.signerOf(token, ALGORITHM), 'invalid-token');
    try {
      const { payload } = await jwtVerify(token, key.publicKey, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: this.issuer,
        audience,
        requiredClaims: ['sub', 'client_id', 'scope', 'iat', 'exp'],
        currentDate: new Date(this.runtime.clock.now()),
      });
      const id = String(payload['client_id']);
      if (payload.sub !== `${SUBJECT_PREFIX}${id}`) {
        throw new AppError('invalid-token');
      }
      return { id, scopes: String(payload['scope']).split(' ') };
    } catch {
      throw new AppError('invalid-token');
    }
  }

  private audienceOf(scope: ClientScope): string {
    return this.issuer + AUDIENCES[scope];
  }
}

/** @param scope separated by spaces; undefined = all */
function scopesOf(scope: string | undefined): readonly ClientScope[] {
  if (scope === undefined) {
    return CLIENT_SCOPES;
  }
  const asked = scope.split(' ');
  const scopes = CLIENT_SCOPES.filter((one) => asked.includes(one));
  if (scopes.length !== new Set(asked).size) {
    throw new AppError('invalid-scope');
  }
  return scopes;
}
