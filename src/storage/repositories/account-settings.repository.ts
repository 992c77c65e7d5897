import { Injectable } from '@nestjs/common';
import { modeOf, type Content } from '../../policy/content.js';
import type { AccountMode, KeyMode } from '../../policy/operator-policy.js';
import { Database, type Query } from '../database.js';
import { AccountEntity } from '../entities/account.entity.js';
import { ContentAtRest, type ContentForm } from '../sealing/content-at-rest.js';
import { accountRow, nextUpdateSeq } from '../account-row.js';

/** What decides about an account's content. */
export interface ContentOwner {
  readonly keyMode: KeyMode;
  readonly mode: AccountMode;
  /** When the mode was last changed, or the account made. Unix milliseconds. */
  readonly modeChangedAt: number;
  readonly settingsVersion: number;
}

export interface AccountSettings {
  readonly mode: AccountMode;
  readonly content: Content | null;
  /** 0 = never written. */
  readonly version: number;
}

export interface SettingsWritten {
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

/** Of any number of writers that expect one version, one writes. */
const WRITE = `
  UPDATE "account" SET "settings_form" = $2, "settings_content" = $3,
    "settings_version" = "settings_version" + 1, "update_seq" = "update_seq" + 1
  WHERE "id" = $1 AND ($4::int IS NULL OR "settings_version" = $4)
    AND ($5::text IS NULL OR "encryption_mode" = $5)
  RETURNING "settings_version" AS "version", "update_seq" AS "seq"`;

/**
 * The settings document of an account, and the mode that everything it stores is in. SQL: a write is
 * decided by its one statement, and clients read on every start (`findOne` takes twice its time).
 */
@Injectable()
export class AccountSettingsRepository {
  constructor(
    private readonly database: Database,
    private readonly atRest: ContentAtRest,
  ) {}

  /** @throws AppError `token-revoked` when the account is gone */
  owner(accountId: string): Promise<ContentOwner> {
    return readOwner(this.database.query, OWNER, accountId);
  }

  /** As {@link owner}; locks the account until the transaction ends, and so all that it stores. */
  lockOwner(query: Query, accountId: string): Promise<ContentOwner> {
    return readOwner(query, `${OWNER} FOR UPDATE`, accountId);
  }

  /** @throws AppError `token-revoked` when the account is gone. @throws BrokenSealError */
  async find(accountId: string, query: Query = this.database.query): Promise<AccountSettings> {
    const [row] = await query<SettingsRow>(FIND, [accountId]);
    const { mode, form, bytes, version } = accountRow(row);
    const content =
      form === null || bytes === null
        ? null
        : this.atRest.read('account-settings', { form, bytes }, accountId);
    return { mode, content, version };
  }

  /**
   * Writes where the version is still the expected one and the account still stores content of this
   * kind.
   *
   * @returns null when it does not, or the account is gone
   */
  write(
    accountId: string,
    content: Content | null,
    expectedVersion: number,
  ): Promise<SettingsWritten | null> {
    const mode = content === null ? null : modeOf(content);
    return this.writeWhere(this.database.query, accountId, content, expectedVersion, mode);
  }

  /** Replaces the settings of an account that is locked, whatever mode it is in. */
  async replace(query: Query, accountId: string, content: Content | null) {
    return accountRow(await this.writeWhere(query, accountId, content, null, null));
  }

  /** Changes the mode of an account that is locked. @returns the `seq` of the update to send */
  async changeMode(query: Query, accountId: string, mode: AccountMode, now: Date): Promise<number> {
    const changed = { encryptionMode: mode, encryptionModeChangedAt: now };
    await query.manager.update(AccountEntity, { id: accountId }, changed);
    return nextUpdateSeq(query, accountId);
  }

  private async writeWhere(
    query: Query,
    accountId: string,
    content: Content | null,
    expectedVersion: number | null,
    mode: AccountMode | null,
  ): Promise<SettingsWritten | null> {
    const stored = content && this.atRest.store('account-settings', content, accountId);
    const [row] = await query<{ version: number; seq: string }>(WRITE, [
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

async function readOwner(query: Query, sql: string, accountId: string): Promise<ContentOwner> {
  type Row = Omit<ContentOwner, 'modeChangedAt'> & { readonly modeChangedAt: Date };
  const row = accountRow((await query<Row>(sql, [accountId]))[0]);
  return { ...row, modeChangedAt: row.modeChangedAt.getTime() };
}
