import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { LOGIN_CHALLENGE_VERSION, writeLoginChallenge } from '../../policy/login-challenge.js';
import { LoginChallengeRepository } from '../../storage/login-challenge.repository.js';

const LIFETIME_MS = 60_000;
const NONCE_BYTES = 32;

/** Marks the challenges of this server, so that they are single use even where others pass too. */
const PREFIX = Buffer.from(`${LOGIN_CHALLENGE_VERSION}\n`);

@Injectable()
export class LoginChallenges {
  constructor(
    private readonly challenges: LoginChallengeRepository,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * A new challenge in base64, with its expiry in Unix milliseconds. Its origins are those of the
   * configuration: an origin taken from the request would be the relaying server's own.
   */
  async issue(): Promise<{ challenge: string; expiresAt: number }> {
    const expiresAt = this.clock.now() + LIFETIME_MS;
    const text = writeLoginChallenge({
      origins: this.settings.auth.loginOrigins,
      nonce: randomBytes(NONCE_BYTES).toString('base64url'),
      expiresAt,
    });
    const challenge = Buffer.from(text);
    await this.challenges.add(challenge, new Date(expiresAt));
    return { challenge: challenge.toString('base64'), expiresAt };
  }

  /**
   * Uses up a challenge of this server; one that the client made passes unless the server's are
   * required. Call it after the signature was verified: only its owner may use a challenge up.
   *
   * @throws AppError `challenge-required`, `challenge-expired`
   */
  async consume(challenge: Buffer): Promise<void> {
    const hasOurForm = challenge.subarray(0, PREFIX.length).equals(PREFIX);
    if (!hasOurForm && !this.settings.auth.requireServerChallenge) {
      return;
    }
    // What is stored was issued here, whatever its form: a replica of the version before may have.
    if (!(await this.challenges.take(challenge, new Date(this.clock.now())))) {
      throw new AppError(hasOurForm ? 'challenge-expired' : 'challenge-required');
    }
  }
}
