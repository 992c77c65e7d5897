import { Injectable } from '@nestjs/common';
import type { AccountMode, KeyMode } from '../../../core/policy/operator-policy.js';
import { modeOf, type Content } from '../../../core/protocol/content.js';
import { DatabaseService, type SqlRunner, type Transaction } from '../database.service.js';
import { AccountEntity } from '../entities/account.entity.js';
import { ContentAtRestService, type ContentForm } from '../sealing/content-at-rest.service.js';
import { accountRow, nextUpdateSeq } from '../account-row.js';
import { inMilliseconds, type InDates } from '../milliseconds.js';

/** Facts of an account that decide how its content is stored. */
export interface ContentOwner {
  readonly keyMode: KeyMode;
  readonly mode: AccountMode;
  /** Time of the last mode change, or of the creation of the account. Unix milliseconds. */
  readonly modeChangedAt: number;
  readonly settingsVersion: number;
}

export interface AccountSettings {
  readonly mode: AccountMode;
  readonly content: Content | null;
  readonly version: number;
}

interface SettingsWritten {
  readonly version: number;
  readonly seq: number;
}

const OWNER = `
  SELECT "key_mode" AS "keyMode", "encryption_mode" AS "mode",
    COALESCE("encryption_mode_changed_at", "created_at") AS "modeChangedAt",
    "settings_version" AS "settingsVersion"
  FROM "account" WHERE "id" = $1`;

const FIND = `
  SELECT "encryption_mode" AS "mode", "settings_form" AS "form", "settings_content" AS "bytes",
    "settings_version" AS "version"
  FROM "account" WHERE "id" = $1`;

/** One writer succeeds if several expect the same version. */
const WRITE = `
  UPDATE "account" SET "settings_form" = $2, "settings_content" = $3,
    "settings_version" = "settings_version" + 1, "update_seq" = "update_seq" + 1
  WHERE "id" = $1 AND ($4::int IS NULL OR "settings_version" = $4)
    AND ($5::text IS NULL OR "encryption_mode" = $5)
  RETURNING "settings_version" AS "version", "update_seq" AS "seq"`;

/** Uses SQL: one statement decides a write, and `findOne` takes twice the time for a read. */
@Injectable()
export class AccountSettingsRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly atRest: ContentAtRestService,
  ) {}

  /** @throws AppError `token-revoked` when the account is deleted */
  owner(accountId: string): Promise<ContentOwner> {
    return readOwner(this.database, OWNER, accountId);
  }

  /** {@link owner} with a lock on the account and all that it stores, until the commit. */
  lockOwner(tx: Transaction, accountId: string): Promise<ContentOwner> {
    return readOwner(tx, `${OWNER} FOR UPDATE`, accountId);
  }

  /**
   * @throws AppError `token-revoked` when the account is deleted
   * @throws BrokenSealError
   */
  async find(accountId: string, tx?: Transaction): Promise<AccountSettings> {
    const [row] = await (tx ?? this.database).query<SettingsRow>(FIND, [accountId]);
    const { mode, form, bytes, version } = accountRow(row);
    const content =
      form === null || bytes === null
        ? null
        : this.atRest.read('account-settings', { form, bytes }, accountId);
    return { mode, content, version };
  }

  /** @returns null when the version or kind is not the stored one, or the account is deleted */
  write(
    accountId: string,
    content: Content | null,
    expectedVersion: number,
  ): Promise<SettingsWritten | null> {
    const mode = content === null ? null : modeOf(content);
    return this.writeWhere(this.database, accountId, content, expectedVersion, mode);
  }

  /** Replaces the settings of an account that the caller has locked, in any mode. */
  async replace(tx: Transaction, accountId: string, content: Content | null) {
    return accountRow(await this.writeWhere(tx, accountId, content, null, null));
  }

  /** The caller has locked the account. @returns the `seq` of the update to send */
  async changeMode(
    tx: Transaction,
    accountId: string,
    mode: AccountMode,
    now: Date,
  ): Promise<number> {
    const changed = { encryptionMode: mode, encryptionModeChangedAt: now };
    await tx.manager.update(AccountEntity, { id: accountId }, changed);
    return nextUpdateSeq(tx, accountId);
  }

  private async writeWhere(
    runner: SqlRunner,
    accountId: string,
    content: Content | null,
    expectedVersion: number | null,
    mode: AccountMode | null,
  ): Promise<SettingsWritten | null> {
    const stored = content && this.atRest.store('account-settings', content, accountId);
    const [row] = await runner.query<{ version: number; seq: string }>(WRITE, [
      accountId,
      stored?.form ?? null,
      stored?.bytes ?? null,
      expectedVersion,
      mode,
    ]);
    return row === undefined ? null : { version: row.version, seq: Number(row.seq) };
  }
}

interface SettingsRow {
  readonly mode: AccountMode;
  readonly form: ContentForm | null;
  readonly bytes: Buffer | null;
  readonly version: number;
}

async function readOwner(runner: SqlRunner, sql: string, accountId: string): Promise<ContentOwner> {
  type Row = InDates<ContentOwner, 'modeChangedAt'>;
  return inMilliseconds(accountRow((await runner.query<Row>(sql, [accountId]))[0]));
}
