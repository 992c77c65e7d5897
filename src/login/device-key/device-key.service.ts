import { createPublicKey, verify } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AppError, invalidRequest } from '../../common/errors.js';
import { encryptionConfig } from '../../config/encryption.config.js';
import { normalizeBase64 } from '../../policy/base64.js';
import { isStrictSignature, judgePublicKey } from '../../policy/admission/device-key.js';
import { newKeyedAccountMode } from '../../policy/admission/encryption.js';
import { Admission } from '../../auth/admission.js';
import { AccountRepository } from '../../storage/repositories/account.repository.js';
import type { Query } from '../../storage/database.js';
import type { NewSession } from '../../storage/repositories/session.repository.js';
import {
  SessionRepository,
  type LoggedInAccount,
} from '../../storage/repositories/session.repository.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import { SessionIssuer, type Login } from '../../auth/sessions/session-issuer.js';
import type { DeviceKeyLoginDto, SignedChallengeDto } from './device-key.dto.js';
import { LoginChallenges } from './login-challenges.js';

const MAX_CHALLENGE_BYTES = 1024;

/** Sign-up and login with a device key (contract, Sign-up and login with a device key). */
@Injectable()
export class DeviceKeyService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly sessions: SessionRepository,
    private readonly challenges: LoginChallenges,
    private readonly issuer: SessionIssuer,
    private readonly admission: Admission,
    @Inject(encryptionConfig.KEY) private readonly encryption: ConfigType<typeof encryptionConfig>,
  ) {}

  /**
   * Logs in, creating the account at the first login of its key.
   *
   * @throws AppError `signup-disabled`, `not-found` where `create` is false, `account-disabled`, and
   *   what {@link prove} throws
   */
  async logIn(body: DeviceKeyLoginDto, origin: LoginOrigin): Promise<Login> {
    const publicKey = await this.prove(body);
    const session = this.issuer.prepare('key_challenge', origin);
    const { account, created } = await this.begin(publicKey, session, () => this.checkSignup(body));
    return this.issuer.answer(account, session, created);
  }

  /**
   * Checks that the caller has the private key; uses up the challenge.
   *
   * @returns the raw public key
   * @throws AppError `invalid-public-key`, `invalid-signature`, `challenge-required`,
   *   `challenge-expired`
   */
  async prove(body: SignedChallengeDto): Promise<Buffer> {
    const publicKey = decodePublicKey(body.publicKey);
    const challenge = decodeBase64(body.challenge, 1, MAX_CHALLENGE_BYTES);
    if (challenge === null) {
      throw invalidRequest('challenge', 'Send 1 to 1024 bytes in base64.');
    }
    const signature = decodeBase64(body.signature, 64, 64);
    const isGenuine =
      signature !== null &&
      isStrictSignature(signature) &&
      verifySignature(publicKey.toString('base64url'), challenge, signature);
    if (!isGenuine) {
      throw new AppError('invalid-signature');
    }
    await this.challenges.consume(challenge);
    return publicKey;
  }

  /**
   * Stores the session of a proven key, creating its account where it has none. Of two concurrent
   * first logins of one key both succeed, with one account.
   *
   * @param checkSignup throws where a new key may not create an account
   * @param query of the caller's transaction, if any
   */
  async begin(
    publicKey: Buffer,
    session: NewSession,
    checkSignup: () => void,
    query?: Query,
  ): Promise<{ readonly account: LoggedInAccount; readonly created: boolean }> {
    const known = await this.sessions.logInByKey(publicKey, session, query);
    if (known !== null) {
      return { account: known, created: false };
    }
    checkSignup();
    const mode = newKeyedAccountMode(this.encryption);
    const id = await this.accounts.createKeyed(publicKey, mode, session, query);
    if (id !== null) {
      return { account: { id, isDisabled: false, sessions: 0 }, created: true };
    }
    const other = await this.sessions.logInByKey(publicKey, session, query);
    if (other === null) {
      throw new AppError('unavailable');
    }
    return { account: other, created: false };
  }

  private checkSignup({ create = true }: DeviceKeyLoginDto): void {
    if (!create) {
      throw new AppError('not-found');
    }
    this.admission.require('key_challenge', 'provision', 'keyed');
  }
}

/** @throws AppError `invalid-public-key` */
export function decodePublicKey(text: string): Buffer {
  const key = decodeBase64(text, 32, 32);
  if (key === null || judgePublicKey(key) !== 'ok') {
    throw new AppError('invalid-public-key');
  }
  return key;
}

function decodeBase64(text: string, minBytes: number, maxBytes: number): Buffer | null {
  const normalized = normalizeBase64(text, minBytes, maxBytes);
  return normalized === null ? null : Buffer.from(normalized, 'base64url');
}

/**
 * Whether it is the key's Ed25519 signature. A JWK is imported ten times faster than SPKI (OpenSSL 3).
 *
 * @param publicKey the raw 32 bytes as unpadded base64url
 */
function verifySignature(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey };
    return verify(null, message, createPublicKey({ key, format: 'jwk' }), signature);
  } catch {
    // Bytes that are no point of the curve cannot have signed anything.
    return false;
  }
}
