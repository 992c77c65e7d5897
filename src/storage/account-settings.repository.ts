import { Injectable } from '@nestjs/common';
import { modeOf, type Content } from '../policy/content.js';
import type { AccountMode, KeyMode } from '../policy/storage-policy.js';
import { ContentAtRest, type ContentForm, type StoredContent } from './content-at-rest.js';
import { Database, type Query } from './database.js';

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

const OWNER = `"key_mode" AS "keyMode", "encryption_mode" AS "mode",
  COALESCE("encryption_mode_changed_at", "created_at") AS "modeChangedAt",
  "settings_version" AS "settingsVersion"`;

/** The settings document of an account, and the mode that everything it stores is in. */
@Injectable()
export class AccountSettingsRepository {
  constructor(
    private readonly database: Database,
    private readonly atRest: ContentAtRest,
  ) {}

  /** null when the account is gone. */
  async owner(accountId: string): Promise<ContentOwner | null> {
    const rows = await this.database.query<OwnerRow>(
      `SELECT ${OWNER} FROM "account" WHERE "id" = $1`,
      [accountId],
    );
    return toOwner(rows);
  }

  /** Locks the account until the transaction ends: nothing it stores changes meanwhile. */
  async lockOwner(query: Query, accountId: string): Promise<ContentOwner | null> {
    const rows = await query<OwnerRow>(
      `SELECT ${OWNER} FROM "account" WHERE "id" = $1 FOR UPDATE`,
      [accountId],
    );
    return toOwner(rows);
  }

  /**
   * null when the account is gone.
   *
   * @throws BrokenSealError
   */
  async find(
    accountId: string,
    query: Query = this.database.query,
  ): Promise<AccountSettings | null> {
    const [row] = await query<SettingsRow>(
      `SELECT "encryption_mode" AS "mode", "settings_form" AS "form",
         "settings_content" AS "bytes", "settings_version" AS "version"
       FROM "account" WHERE "id" = $1`,
      [accountId],
    );
    if (row === undefined) {
      return null;
    }
    const { mode, form, bytes, version } = row;
    const content =
      form === null || bytes === null
        ? null
        : this.atRest.read('account-settings', { form, bytes }, accountId);
    return { mode, content, version };
  }

  /**
   * Writes where the version is still the expected one and the account still stores content of this
   * kind, by one statement: of any number of writers that expect one version, one writes.
   *
   * @returns null when it does not, or the account is gone
   */
  async write(
    accountId: string,
    content: Content | null,
    expectedVersion: number,
  ): Promise<SettingsWritten | null> {
    const stored = this.toStored(accountId, content);
    const [row] = await this.database.query<{ version: number; seq: string }>(
      `UPDATE "account" SET "settings_form" = $3, "settings_content" = $4,
         "settings_version" = "settings_version" + 1, "update_seq" = "update_seq" + 1
       WHERE "id" = $1 AND "settings_version" = $2
         AND ($5::text IS NULL OR "encryption_mode" = $5)
       RETURNING "settings_version" AS "version", "update_seq" AS "seq"`,
      [
        accountId,
        expectedVersion,
        stored?.form ?? null,
        stored?.bytes ?? null,
        content === null ? null : modeOf(content),
      ],
    );
    return row === undefined ? null : { version: row.version, seq: Number(row.seq) };
  }

  /** Changes the mode of an account that is locked. @returns the `seq` of the update to send */
  async changeMode(query: Query, accountId: string, mode: AccountMode, now: Date): Promise<number> {
    const [row] = await query<{ seq: string }>(
      `UPDATE "account" SET "encryption_mode" = $2, "encryption_mode_changed_at" = $3,
         "update_seq" = "update_seq" + 1
       WHERE "id" = $1 RETURNING "update_seq" AS "seq"`,
      [accountId, mode, now],
    );
    return Number(row?.seq);
  }

  /** Replaces the settings of an account that is locked, whatever mode it is in. */
  async replace(
    query: Query,
    accountId: string,
    content: Content | null,
  ): Promise<SettingsWritten> {
    const stored = this.toStored(accountId, content);
    const [row] = await query<{ version: number; seq: string }>(
      `UPDATE "account" SET "settings_form" = $2, "settings_content" = $3,
         "settings_version" = "settings_version" + 1, "update_seq" = "update_seq" + 1
       WHERE "id" = $1
       RETURNING "settings_version" AS "version", "update_seq" AS "seq"`,
      [accountId, stored?.form ?? null, stored?.bytes ?? null],
    );
    return { version: Number(row?.version), seq: Number(row?.seq) };
  }

  private toStored(accountId: string, content: Content | null): StoredContent | null {
    return content === null ? null : this.atRest.store('account-settings', content, accountId);
  }
}

interface OwnerRow extends Omit<ContentOwner, 'modeChangedAt'> {
  readonly modeChangedAt: Date;
}

interface SettingsRow {
  readonly mode: AccountMode;
  readonly form: ContentForm | null;
  readonly bytes: Buffer | null;
  readonly version: number;
}

function toOwner([row]: readonly OwnerRow[]): ContentOwner | null {
  return row === undefined ? null : { ...row, modeChangedAt: row.modeChangedAt.getTime() };
}
