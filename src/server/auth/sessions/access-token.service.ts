import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { AppError } from '../../../common/errors.js';
import { normalizeBase64 } from '../../../core/protocol/base64.js';
import { MasterKeys } from '../../storage/sealing/master-keys.js';
import type { UsedSession } from '../../storage/repositories/live-access.repository.js';
import type { NewSession } from '../../storage/repositories/session.repository.js';

/** Claims of a token with a valid signature. Its session may have ended. */
export interface TokenClaims extends UsedSession {
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
  private keys!: ReadonlyMap<unknown, KeyObject>;
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
    this.keys = new Map(keys.map(({ id, bytes }) => [id, createSecretKey(bytes)]));
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
    return `${signed}.${macOf(this.current.key, signed).toString('base64url')}`;
  }

  /**
   * Verified synchronously, for the same reason. `jose` verifies in another thread alone.
   *
   * @throws AppError `invalid-token` or `token-expired`; `unavailable` with a wrong master secret
   */
  verify(token: string): TokenClaims {
    const segments = token.split('.');
    if (token.length > MAX_LENGTH || segments.length !== 3 || !segments.every(isCanonicalSegment)) {
      throw new AppError('invalid-token');
    }
    const [header, claims, signature] = segments as [string, string, string];
    const { alg, typ, kid } = decode(header);
    if (alg !== ALGORITHM || typ !== TYPE) {
      throw new AppError('invalid-token');
    }
    const expected = macOf(this.keyOf(kid), `${header}.${claims}`);
    if (!isEqual(Buffer.from(signature, 'base64url'), expected)) {
      throw new AppError('invalid-token');
    }
    const { iss, sub, jti, exp } = decode(claims);
    if (iss !== ISSUER || !isText(sub) || !isText(jti) || typeof exp !== 'number') {
      throw new AppError('invalid-token');
    }
    if (exp * 1000 <= this.clock.now()) {
      throw new AppError('token-expired');
    }
    return { accountId: sub, sessionId: jti, expiresAt: exp * 1000 };
  }

  private keyOf(keyId: unknown): KeyObject {
    const key = this.keys.get(keyId);
    if (key === undefined) {
      // With a wrong master secret every client would discard a token that is valid.
      throw new AppError(this.masterKeys.isConfirmed ? 'invalid-token' : 'unavailable');
    }
    return key;
  }
}

function macOf(key: KeyObject, signed: string): Buffer {
  return createHmac('sha256', key).update(signed).digest();
}

function isEqual(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Returns the members of a part of a token; none of a text that is no JSON object. */
function decode(part: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(Buffer.from(part, 'base64url').toString()) as object) };
  } catch {
    return {};
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** A token must have only one encoding: otherwise a revoked one would pass in another encoding. */
function isCanonicalSegment(segment: string): boolean {
  return normalizeBase64(segment, 1, MAX_LENGTH) === segment;
}
