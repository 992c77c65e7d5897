import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables and the definitions of their indexes, each in the order in which its pages are read. */
const INDEXES = [
  ['identity_login_idx', `"identity" ((lower("login") COLLATE "C"), "account_id")`],
  [
    'identity_email_idx',
    `"identity" ((lower("facts" ->> 'email') COLLATE "C"), "account_id")
      WHERE "facts" ->> 'email' IS NOT NULL`,
  ],
  [
    'identity_certificate_subject_idx',
    `"identity" ((lower("subject") COLLATE "C"), "account_id") WHERE "provider" = 'mtls'`,
  ],
  [
    'identity_ineligible_idx',
    `"identity" ("account_id") WHERE "eligibility_status" = 'ineligible'`,
  ],
  ['account_disabled_idx', `"account" ("id") WHERE "disabled_at" IS NOT NULL`],
  [
    'audit_event_account_idx',
    `"audit_event" ("account_id", "at", "id") WHERE "account_id" IS NOT NULL`,
  ],
  [
    'audit_event_operator_idx',
    `"audit_event" ("actor", "at", "id") WHERE "actor" NOT IN ('user', 'system', 'provider')`,
  ],
  ['audit_event_kind_idx', `"audit_event" ("kind", "at", "id") WHERE "kind" <> 'logged-in'`],
] as const;

/** The indexes of the administration's searches. Built beside logins, so outside a transaction. */
export class Administration1764450000000 implements MigrationInterface {
  readonly name = 'Administration1764450000000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of INDEXES) {
      // One that was interrupted leaves an index that is not used.
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
      await runner.query(`CREATE INDEX CONCURRENTLY "${name}" ON ${definition}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name] of INDEXES) {
      await runner.query(`DROP INDEX IF EXISTS "${name}"`);
    }
  }
}
