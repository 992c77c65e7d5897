import { Injectable } from '@nestjs/common';
import { Runtime } from '../../../common/runtime/runtime.js';
import { sha256 } from '../../../common/sha256.js';
import { DatabaseService, type SqlRunner, type Transaction } from '../database.service.js';
import { SealedBoxService, type SealPurpose } from '../sealing/sealed-box.service.js';

const KEYS = {
  login_challenge: 'challenge',
  external_flow: 'state_hash',
  external_pending: 'pending_hash',
} as const;

/**
 * Deletes a row and returns it, to exactly one caller.
 * @returns null when there is none, or it has expired
 */
async function takeOnce<Row extends object>(
  runner: SqlRunner,
  table: keyof typeof KEYS,
  key: Buffer,
  now: Date,
  columns = '',
): Promise<Row | null> {
  const [taken] = await runner.query<Row & { readonly expiresAt: Date }>(
    `DELETE FROM "${table}" WHERE "${KEYS[table]}" = $1
     RETURNING "expires_at" AS "expiresAt"${columns}`,
    [key],
  );
  return taken !== undefined && taken.expiresAt > now ? taken : null;
}

@Injectable()
export class LoginChallengeRepository {
  constructor(private readonly database: DatabaseService) {}

  async add(challenge: Buffer, expiresAt: Date): Promise<void> {
    await this.database.query(
      `INSERT INTO "login_challenge" ("challenge", "expires_at") VALUES ($1, $2)`,
      [challenge, expiresAt],
    );
  }

  /** @returns true for exactly one caller, and only before the challenge expires */
  async take(challenge: Buffer, now: Date): Promise<boolean> {
    return (await takeOnce(this.database, 'login_challenge', challenge, now)) !== null;
  }
}

const TABLES = {
  'external-flow': 'external_flow',
  'external-pending': 'external_pending',
  // A proven identity as well, but another kind of seal, so that neither opens as the other.
  'mtls-claim': 'external_pending',
  'mtls-connect': 'external_pending',
  'mtls-connect-start': 'external_flow',
  'admin-login': 'external_flow',
  'admin-session': 'external_pending',
  'program-request': 'external_flow',
} as const satisfies Partial<Record<SealPurpose, keyof typeof KEYS>>;

type Kind = keyof typeof TABLES;

/** Provider logins in progress: found by the issued secret, opened only by this server. */
@Injectable()
export class ExternalFlowRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly box: SealedBoxService,
    private readonly runtime: Runtime,
  ) {}

  /** @returns the secret, which is drawn unless given */
  async add(
    kind: Kind,
    contents: object,
    lifetimeMs: number,
    secret = this.runtime.random.secret(),
  ): Promise<string> {
    const table = TABLES[kind];
    const hash = sha256(secret);
    const sealed = this.box.seal(kind, hash.toString('hex'), JSON.stringify(contents));
    await this.database.query(
      `INSERT INTO "${table}" ("${KEYS[table]}", "contents", "expires_at") VALUES ($1, $2, $3)`,
      [hash, sealed, new Date(this.runtime.clock.now() + lifetimeMs)],
    );
    return secret;
  }

  /**
   * @param tx the transaction that uses the contents: if it fails, they are kept
   * @returns null when there are none, they have expired, or no master secret opens them
   */
  async take<Contents>(kind: Kind, secret: string, tx?: Transaction): Promise<Contents | null> {
    const hash = sha256(secret);
    const taken = await takeOnce<{ readonly contents: Buffer }>(
      tx ?? this.database,
      TABLES[kind],
      hash,
      this.now(),
      ', "contents"',
    );
    return taken && (this.open(kind, hash, taken.contents) as Contents | null);
  }

  /** @returns as {@link take} */
  async read<Contents>(kind: Kind, secret: string): Promise<Contents | null> {
    const hash = sha256(secret);
    const table = TABLES[kind];
    const [found] = await this.database.query<{ contents: Buffer }>(
      `SELECT "contents" FROM "${table}" WHERE "${KEYS[table]}" = $1 AND "expires_at" > $2`,
      [hash, this.now()],
    );
    return found === undefined ? null : (this.open(kind, hash, found.contents) as Contents | null);
  }

  /** @param check throws to refuse; the contents are then kept @returns as {@link take} */
  takeChecked<Contents>(
    kind: Kind,
    secret: string,
    check: (contents: Contents) => void,
  ): Promise<Contents | null> {
    return this.database.transaction(async (tx) => {
      const contents = await this.take<Contents>(kind, secret, tx);
      if (contents !== null) {
        check(contents);
      }
      return contents;
    });
  }

  /** Deletes a pending login or an administrator's session, if it exists. */
  async drop(secret: string): Promise<void> {
    const sql = `DELETE FROM "external_pending" WHERE "pending_hash" = $1`;
    await this.database.query(sql, [sha256(secret)]);
  }

  private now(): Date {
    return new Date(this.runtime.clock.now());
  }

  private open(kind: Kind, hash: Buffer, contents: Buffer): unknown {
    const text = this.box.openOrNull(kind, hash.toString('hex'), contents);
    return text === null ? null : JSON.parse(text);
  }
}
