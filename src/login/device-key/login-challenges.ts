import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { authConfig } from '../../config/auth.config.js';
import {
  LOGIN_CHALLENGE_VERSION,
  writeLoginChallenge,
} from '../../policy/admission/login-challenge.js';
import { LoginChallengeRepository } from '../../storage/repositories/one-time.repository.js';
import { randomSecret } from '../../common/random-secret.js';

const LIFETIME_MS = 60_000;

/** Marks this server's challenges: they are single use even where other challenges are accepted. */
const PREFIX = Buffer.from(`${LOGIN_CHALLENGE_VERSION}\n`);

@Injectable()
export class LoginChallenges {
  constructor(
    private readonly challenges: LoginChallengeRepository,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly config: ConfigType<typeof authConfig>,
  ) {}

  /**
   * A new challenge in base64, with its expiry in Unix milliseconds. Its origins are the configured
   * ones: an origin of the request would be that of a relaying attacker.
   */
  async issue(): Promise<{ challenge: string; expiresAt: number }> {
    const expiresAt = this.clock.now() + LIFETIME_MS;
    const text = writeLoginChallenge({
      origins: this.config.loginOrigins,
      nonce: randomSecret(),
      expiresAt,
    });
    const challenge = Buffer.from(text);
    await this.challenges.add(challenge, new Date(expiresAt));
    return { challenge: challenge.toString('base64'), expiresAt };
  }

  /**
   * Uses up a challenge of this server; one created by the client is accepted unless server challenges
   * are required. Called after the signature was verified: only its owner may use up a challenge.
   *
   * @throws AppError `challenge-required`, `challenge-expired`
   */
  async consume(challenge: Buffer): Promise<void> {
    const hasOurForm = challenge.subarray(0, PREFIX.length).equals(PREFIX);
    if (!hasOurForm && !this.config.requireServerChallenge) {
      return;
    }
    // A stored challenge of any form was issued by this server or a replica of an older version.
    if (!(await this.challenges.take(challenge, new Date(this.clock.now())))) {
      throw new AppError(hasOurForm ? 'challenge-expired' : 'challenge-required');
    }
  }
}
