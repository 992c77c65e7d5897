import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { normalizeBase64 } from '../../policy/base64.js';
import { isStrictSignature, judgePublicKey } from '../../policy/device-key.js';
import { newKeyedAccountMode } from '../../policy/encryption.js';
import { judgeSignup } from '../../policy/signup.js';
import { AccountRepository } from '../../storage/account.repository.js';
import type { Query } from '../../storage/database.js';
import type { NewSession } from '../../storage/session-sql.js';
import { SessionRepository, type LoggedInAccount } from '../../storage/session.repository.js';
import type { LoginOrigin } from '../sessions/login-origin.js';
import { SessionIssuer, type Login } from '../sessions/session-issuer.js';
import type { DeviceKeyLoginDto, SignedChallengeDto } from './device-key.dto.js';
import { LoginChallenges } from './login-challenges.js';
import { verifySignature } from './verify-signature.js';

const MAX_CHALLENGE_BYTES = 1024;

/** Sign-up and login with a device key (contract, Sign-up and login with a device key). */
@Injectable()
export class DeviceKeyService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly sessions: SessionRepository,
    private readonly challenges: LoginChallenges,
    private readonly issuer: SessionIssuer,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Logs in, making the account at the first login of its key.
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
   * Whether the caller holds the key that they show; uses the challenge up.
   *
   * @returns the raw public key
   * @throws AppError `invalid-public-key`, `invalid-signature`, `challenge-required`,
   *   `challenge-expired`
   */
  async prove(body: SignedChallengeDto): Promise<Buffer> {
    const publicKey = decodePublicKey(body.publicKey);
    await this.checkSignature(publicKey, body);
    return publicKey;
  }

  /**
   * Stores the session of a key that was proven, making its account where it has none. Another first
   * login of the same key may be a moment faster: both succeed, with one account.
   *
   * @param checkSignup throws where a new key may not make an account
   * @param query of the transaction that it belongs to, if any
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
    const mode = newKeyedAccountMode(this.settings.encryption);
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
    const { anonymousSignupEnabled } = this.settings.auth;
    const decision = judgeSignup({ anonymousSignupEnabled, accountExists: false });
    if (!decision.allowed) {
      throw new AppError(decision.code);
    }
  }

  private async checkSignature(publicKey: Buffer, body: SignedChallengeDto): Promise<void> {
    const challenge = decodeBase64(body.challenge, 1, MAX_CHALLENGE_BYTES);
    if (challenge === null) {
      throw new AppError('invalid-request', {
        details: [{ path: 'challenge', message: 'Send 1 to 1024 bytes in base64.' }],
      });
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
