import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, type Query } from '../database.js';
import { ExternalPendingEntity } from '../entities/one-time.entity.js';
import { BrokenSealError, SealedBox, type SealPurpose } from '../sealing/sealed-box.js';

/** Tables of rows that are issued once and taken once, with their key columns. */
const KEYS = {
  login_challenge: 'challenge',
  external_flow: 'state_hash',
  external_pending: 'pending_hash',
} as const;

/**
 * Deletes a row and returns it, to exactly one caller.
 *
 * @param columns SQL of further columns to return
 * @returns null when there is none, or it has expired
 */
async function takeOnce<Row extends object>(
  query: Query,
  table: keyof typeof KEYS,
  key: Buffer,
  now: Date,
  columns = '',
): Promise<Row | null> {
  const [taken] = await query<Row & { readonly expiresAt: Date }>(
    `DELETE FROM "${table}" WHERE "${KEYS[table]}" = $1
     RETURNING "expires_at" AS "expiresAt"${columns}`,
    [key],
  );
  return taken !== undefined && taken.expiresAt > now ? taken : null;
}

/** Challenges of this server that no login has used. */
@Injectable()
export class LoginChallengeRepository {
  constructor(private readonly database: Database) {}

  async add(challenge: Buffer, expiresAt: Date): Promise<void> {
    await this.database.query(
      `INSERT INTO "login_challenge" ("challenge", "expires_at") VALUES ($1, $2)`,
      [challenge, expiresAt],
    );
  }

  /** @returns true for exactly one caller, and only before the challenge expires */
  async take(challenge: Buffer, now: Date): Promise<boolean> {
    return (await takeOnce(this.database.query, 'login_challenge', challenge, now)) !== null;
  }
}

/** Where the contents of each kind of seal are stored. */
const TABLES = {
  'external-flow': 'external_flow',
  'external-pending': 'external_pending',
  // A proven identity that waits for its client too; another kind of seal, so neither opens as the other.
  'mtls-claim': 'external_pending',
  'mtls-connect': 'external_pending',
  'mtls-connect-start': 'external_flow',
  'admin-login': 'external_flow',
  'admin-session': 'external_pending',
} as const satisfies Partial<Record<SealPurpose, keyof typeof KEYS>>;

type Kind = keyof typeof TABLES;

/**
 * Logins through a provider while they are under way. A row is found only by the secret that was
 * issued, is opened only by this server, and is taken by exactly one caller.
 */
@Injectable()
export class ExternalFlowRepository {
  constructor(
    private readonly database: Database,
    private readonly box: SealedBox,
  ) {}

  /** @param contents sealed before they are stored */
  async add(kind: Kind, secret: string, contents: object, expiresAt: Date): Promise<void> {
    const table = TABLES[kind];
    const hash = hashOf(secret);
    const sealed = this.box.seal(kind, hash.toString('hex'), JSON.stringify(contents));
    await this.database.query(
      `INSERT INTO "${table}" ("${KEYS[table]}", "contents", "expires_at") VALUES ($1, $2, $3)`,
      [hash, sealed, expiresAt],
    );
  }

  /**
   * Takes the contents, once.
   *
   * @param query of the transaction that uses them: when it fails they are still there
   * @returns null when there are none, they have expired, or no master secret opens them any more
   */
  async take<Contents>(
    kind: Kind,
    secret: string,
    now: Date,
    query: Query = this.database.query,
  ): Promise<Contents | null> {
    const hash = hashOf(secret);
    const taken = await takeOnce<{ readonly contents: Buffer }>(
      query,
      TABLES[kind],
      hash,
      now,
      ', "contents"',
    );
    return taken && this.open<Contents>(kind, hash, taken.contents);
  }

  /** Reads the contents and leaves them there. @returns as {@link take} */
  async read<Contents>(kind: Kind, secret: string, now: Date): Promise<Contents | null> {
    const hash = hashOf(secret);
    const table = TABLES[kind];
    const [found] = await this.database.query<{ contents: Buffer }>(
      `SELECT "contents" FROM "${table}" WHERE "${KEYS[table]}" = $1 AND "expires_at" > $2`,
      [hash, now],
    );
    return found === undefined ? null : this.open<Contents>(kind, hash, found.contents);
  }

  /**
   * Takes the contents, once, when the caller may have them.
   *
   * @param check throws to refuse: they are still there then
   * @returns as {@link take}
   */
  takeChecked<Contents>(
    kind: Kind,
    secret: string,
    now: Date,
    check: (contents: Contents) => void,
  ): Promise<Contents | null> {
    return this.database.transaction(async (query) => {
      const contents = await this.take<Contents>(kind, secret, now, query);
      if (contents !== null) {
        check(contents);
      }
      return contents;
    });
  }

  /** Deletes a pending login or a session of an administrator, known or not. */
  async drop(secret: string): Promise<void> {
    await this.database.query.manager.delete(ExternalPendingEntity, {
      pendingHash: hashOf(secret),
    });
  }

  private open<Contents>(kind: Kind, hash: Buffer, contents: Buffer): Contents | null {
    try {
      return JSON.parse(this.box.open(kind, hash.toString('hex'), contents)) as Contents;
    } catch (error) {
      if (error instanceof BrokenSealError) {
        return null;
      }
      throw error;
    }
  }
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
