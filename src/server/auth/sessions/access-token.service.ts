import { createHmac, createSecretKey, webcrypto, type KeyObject } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { errors, jwtVerify, type CryptoKey } from 'jose';
import { Clock } from '../../../common/runtime/clock.js';
import { AppError, isUnavailable } from '../../../common/errors.js';
import { normalizeBase64 } from '../../../core/protocol/base64.js';
import { MasterKeys } from '../../storage/sealing/master-keys.js';
import type { NewSession } from '../../storage/repositories/session.repository.js';

/** Claims of a token with a valid signature. Its session may have ended. */
export interface TokenClaims {
  readonly accountId: string;
  readonly sessionId: string;
  /** True if `sessionId` is the id of a program's grant, which takes the place of a session. */
  readonly isGrant?: true;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

const ALGORITHM = 'HS256';
/** No other JWT (an ID token, a logout token) is accepted as a bearer token (RFC 8725, 3.11). */
const TYPE = 'at+jwt';
const ISSUER = 'gatehouse';
const MAX_LENGTH = 1024;

interface SigningKey {
  readonly key: KeyObject;
  /** The encoded JOSE header of tokens signed with this key. */
  readonly header: string;
}

/** Creates and verifies bearer tokens with one algorithm and one key per master secret. */
@Injectable()
export class AccessTokenService implements OnModuleInit {
  /** Imported once: `jose` would import other forms of a key for each token. */
  private keys!: ReadonlyMap<string, Promise<CryptoKey>>;
  private current!: SigningKey;

  constructor(
    private readonly masterKeys: MasterKeys,
    private readonly clock: Clock,
  ) {
    this.deriveKeys();
  }

  onModuleInit(): void {
    this.masterKeys.onChange(() => this.deriveKeys());
  }

  private deriveKeys(): void {
    const keys = this.masterKeys.allKeys('access-token');
    this.keys = new Map(keys.map(({ id, bytes }) => [id, importKey(bytes)]));
    const { id, bytes } = this.masterKeys.currentKey('access-token');
    this.current = {
      key: createSecretKey(bytes),
      header: encode({ alg: ALGORITHM, typ: TYPE, kid: id }),
    };
  }

  /**
   * Issues the token of a session, whose id is its `jti` (JWS compact, RFC 7515, 7.1). Signed
   * synchronously: passing it to another thread costs more than the signature.
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

  /** @throws AppError `invalid-token` or `token-expired`; `unavailable` with a wrong master secret */
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
      if (isUnavailable(error)) {
        throw error;
      }
      throw new AppError(error instanceof errors.JWTExpired ? 'token-expired' : 'invalid-token');
    }
  }

  private keyOf(keyId: string | undefined): Promise<CryptoKey> {
    const key = this.keys.get(keyId ?? '');
    if (key === undefined) {
      // With a wrong master secret every client would discard a token that is valid.
      throw new AppError(this.masterKeys.isConfirmed ? 'invalid-token' : 'unavailable');
    }
    return key;
  }
}

function importKey(bytes: Uint8Array): Promise<CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return webcrypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** A token must have only one encoding: otherwise a revoked one would pass in another encoding. */
function isCanonicalSegment(segment: string): boolean {
  return normalizeBase64(segment, 1, MAX_LENGTH) === segment;
}
