import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { errors, jwtVerify } from 'jose';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { normalizeBase64 } from '../../policy/base64.js';
import { MasterKeys } from '../../storage/sealing/master-keys.js';
import type { NewSession } from '../../storage/repositories/session.repository.js';

/** What a genuine token says. Whether its session goes on is another question. */
export interface TokenClaims {
  readonly accountId: string;
  readonly sessionId: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

const ALGORITHM = 'HS256';
/** Keeps every other JWT (an ID token, a logout token) from being a bearer token (RFC 8725, 3.11). */
const TYPE = 'at+jwt';
const ISSUER = 'gatehouse';
const MAX_LENGTH = 1024;

interface SigningKey {
  readonly key: KeyObject;
  /** The encoded JOSE header of the tokens it signs. */
  readonly header: string;
}

/** Makes and verifies bearer tokens: one algorithm, one key per master secret. */
@Injectable()
export class AccessTokens {
  private keys!: ReadonlyMap<string, KeyObject>;
  private current!: SigningKey;

  constructor(
    masterKeys: MasterKeys,
    private readonly clock: Clock,
  ) {
    this.use(masterKeys);
    masterKeys.onChange(() => this.use(masterKeys));
  }

  private use(masterKeys: MasterKeys): void {
    const keys = masterKeys.allKeys('access-token');
    this.keys = new Map(keys.map(({ id, bytes }) => [id, createSecretKey(bytes)]));
    const { id } = masterKeys.currentKey('access-token');
    this.current = {
      key: this.keyOf(id),
      header: encode({ alg: ALGORITHM, typ: TYPE, kid: id }),
    };
  }

  /**
   * The token of a session (JWS compact serialization, RFC 7515, 7.1), whose id is its `jti`. Signed
   * in place: handing so little work to another thread costs more than the work.
   */
  issue(
    accountId: string,
    { id, createdAt, expiresAt }: Pick<NewSession, 'id' | 'createdAt' | 'expiresAt'>,
  ): string {
    const [iat, exp] = [createdAt, expiresAt].map((date) => Math.floor(date.getTime() / 1000));
    const claims = { iss: ISSUER, sub: accountId, jti: id, iat, exp };
    const signed = `${this.current.header}.${encode(claims)}`;
    const signature = createHmac('sha256', this.current.key).update(signed).digest('base64url');
    return `${signed}.${signature}`;
  }

  /** @throws AppError `invalid-token` or `token-expired` */
  async verify(token: string): Promise<TokenClaims> {
    if (token.length > MAX_LENGTH || !token.split('.').every(isCanonicalSegment)) {
      throw new AppError('invalid-token');
    }
    try {
      const { payload } = await jwtVerify(token, (header) => this.keyOf(header.kid), {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: ISSUER,
        requiredClaims: ['sub', 'jti', 'exp'],
        currentDate: new Date(this.clock.now()),
      });
      const { sub = '', jti = '', exp = 0 } = payload;
      return { accountId: sub, sessionId: jti, expiresAt: exp * 1000 };
    } catch (error) {
      throw new AppError(error instanceof errors.JWTExpired ? 'token-expired' : 'invalid-token');
    }
  }

  private keyOf(keyId: string | undefined): KeyObject {
    const key = this.keys.get(keyId ?? '');
    if (key === undefined) {
      throw new AppError('invalid-token');
    }
    return key;
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** A token has one encoding only: otherwise a revoked one would pass in another. */
function isCanonicalSegment(segment: string): boolean {
  return normalizeBase64(segment, 1, MAX_LENGTH) === segment;
}
