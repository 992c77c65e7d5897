import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '../../../common/errors.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import {
  LOGIN_CHALLENGE_VERSION,
  writeLoginChallenge,
} from '../../../core/protocol/login-challenge.js';
import { LoginChallengeRepository } from '../../storage/repositories/one-time.repository.js';

const LIFETIME_MS = 60_000;

/** Marks this server's challenges: they are single use even where other challenges are accepted. */
const PREFIX = Buffer.from(`${LOGIN_CHALLENGE_VERSION}\n`);

@Injectable()
export class LoginChallengeService {
  constructor(
    private readonly challenges: LoginChallengeRepository,
    private readonly runtime: Runtime,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
  ) {}

  /** Lists the configured origins: that of the request would be a relaying attacker's. */
  async issue(): Promise<{ challenge: string; expiresAt: number }> {
    const { clock, random } = this.runtime;
    const expiresAt = clock.now() + LIFETIME_MS;
    const text = writeLoginChallenge({
      origins: this.config.loginOrigins,
      nonce: random.secret(),
      expiresAt,
    });
    const challenge = Buffer.from(text);
    await this.challenges.add(challenge, new Date(expiresAt));
    return { challenge: challenge.toString('base64'), expiresAt };
  }

  /**
   * Call it after the signature was verified: only its owner may use up a challenge. One that the
   * client made is accepted unless server challenges are required.
   */
  async consume(challenge: Buffer): Promise<void> {
    if (!challenge.subarray(0, PREFIX.length).equals(PREFIX)) {
      if (this.config.requireServerChallenge) {
        throw new AppError('challenge-required');
      }
      return;
    }
    if (!(await this.challenges.take(challenge, new Date(this.runtime.clock.now())))) {
      throw new AppError('challenge-expired');
    }
  }
}
