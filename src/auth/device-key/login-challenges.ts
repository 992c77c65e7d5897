import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { LoginChallengeRepository } from '../../storage/login-challenge.repository.js';

const LIFETIME_MS = 60_000;

/** Marks the challenges of this server, so that they are single use even where others pass too. */
const PREFIX = Buffer.from('gatehouse-challenge-v1:');
const RANDOM_BYTES = 32;

@Injectable()
export class LoginChallenges {
  constructor(
    private readonly challenges: LoginChallengeRepository,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  async issue(): Promise<{ challenge: string; expiresAt: number }> {
    const challenge = Buffer.concat([PREFIX, randomBytes(RANDOM_BYTES)]);
    const expiresAt = this.clock.now() + LIFETIME_MS;
    await this.challenges.add(challenge, new Date(expiresAt));
    return { challenge: challenge.toString('base64'), expiresAt };
  }

  /**
   * Uses up a challenge of this server; one of the client's own making passes unless the server's
   * are required. Call it after the signature was verified: only its owner may use a challenge up.
   *
   * @throws AppError `challenge-required`, `challenge-expired`
   */
  async consume(challenge: Buffer): Promise<void> {
    if (!challenge.subarray(0, PREFIX.length).equals(PREFIX)) {
      this.refuseIfRequired();
      return;
    }
    if (!(await this.challenges.take(challenge, new Date(this.clock.now())))) {
      throw new AppError('challenge-expired');
    }
  }

  private refuseIfRequired(): void {
    if (this.settings.auth.requireServerChallenge) {
      throw new AppError('challenge-required');
    }
  }
}
