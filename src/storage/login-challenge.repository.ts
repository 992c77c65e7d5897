import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

@Injectable()
export class LoginChallengeRepository {
  constructor(private readonly database: Database) {}

  async add(challenge: Buffer, expiresAt: Date): Promise<void> {
    await this.database.query(
      `INSERT INTO "login_challenge" ("challenge", "expires_at") VALUES ($1, $2)`,
      [challenge, expiresAt],
    );
  }

  /** @returns true for exactly one caller, and only while the challenge lives */
  async take(challenge: Buffer, now: Date): Promise<boolean> {
    const [taken] = await this.database.query<{ expiresAt: Date }>(
      `DELETE FROM "login_challenge" WHERE "challenge" = $1 RETURNING "expires_at" AS "expiresAt"`,
      [challenge],
    );
    return taken !== undefined && taken.expiresAt > now;
  }
}
