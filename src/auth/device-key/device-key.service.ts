import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { normalizeBase64 } from '../../policy/base64.js';
import { isStrictSignature, judgePublicKey } from '../../policy/device-key.js';
import { newKeyedAccountMode } from '../../policy/encryption.js';
import { AccountRepository, type AccountForLogin } from '../../storage/account.repository.js';
import type { Query } from '../../storage/database.js';
import { AccountAccess, type Login } from '../account-access.js';
import type { DeviceKeyLoginDto } from './device-key.dto.js';
import { LoginChallenges } from './login-challenges.js';
import { verifySignature } from './verify-signature.js';

const MAX_CHALLENGE_BYTES = 1024;

/** Sign-up and login with a device key (contract, Sign-up and login with a device key). */
@Injectable()
export class DeviceKeyService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly challenges: LoginChallenges,
    private readonly access: AccountAccess,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Logs in, making the account at the first login of its key.
   *
   * @param known the account of this key where the sign-up policy has looked it up already
   */
  async logIn(body: DeviceKeyLoginDto, known: AccountForLogin | null): Promise<Login> {
    const publicKey = await this.prove(body);
    const existing = known ?? (await this.accounts.findByPublicKey(publicKey));
    if (existing !== null) {
      return this.access.logIn(existing, false);
    }
    const { account, created } = await this.signUp(publicKey);
    return this.access.logIn(account, created);
  }

  /**
   * Whether the caller holds the key that they show; uses the challenge up.
   *
   * @returns the raw public key
   * @throws AppError `invalid-public-key`, `invalid-signature`, `challenge-required`,
   *   `challenge-expired`
   */
  async prove(body: DeviceKeyLoginDto): Promise<Buffer> {
    const publicKey = decodePublicKey(body.publicKey);
    await this.checkSignature(publicKey, body);
    return publicKey;
  }

  /**
   * Makes the account of a key that has none. Another first login of the same key may be a moment
   * faster: both succeed, with one account.
   *
   * @param query of the transaction that it belongs to, if any
   */
  async signUp(
    publicKey: Buffer,
    query?: Query,
  ): Promise<{ readonly account: AccountForLogin; readonly created: boolean }> {
    const mode = newKeyedAccountMode(this.settings.encryption);
    const now = new Date(this.clock.now());
    const created = await this.accounts.createKeyed(publicKey, mode, now, query);
    const account = created ?? (await this.accounts.findByPublicKey(publicKey, query));
    if (account === null) {
      throw new AppError('unavailable');
    }
    return { account, created: created !== null };
  }

  private async checkSignature(publicKey: Buffer, body: DeviceKeyLoginDto): Promise<void> {
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
