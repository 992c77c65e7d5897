import { Injectable } from '@nestjs/common';
import { DatabaseService, type SqlRunner } from '../../database.service.js';

export const PROVIDER_SIGNAL_KINDS = [
  'webhook',
  'backchannel-logout',
  'global-token-revocation',
  'shared-signals',
  'scim',
] as const;

export type ProviderSignalKind = (typeof PROVIDER_SIGNAL_KINDS)[number];

interface ReceivedSignal {
  readonly provider: string;
  readonly kind: ProviderSignalKind;
  readonly receivedAt: Date;
}

const NOTE = `
  INSERT INTO "provider_signal" ("provider", "kind", "received_at") VALUES ($1, $2, $3)
  ON CONFLICT ("provider", "kind") DO UPDATE
    SET "received_at" = GREATEST("provider_signal"."received_at", EXCLUDED."received_at")`;

/** The last signal of each kind and provider: verified ones only. */
@Injectable()
export class ProviderSignalRepository {
  constructor(private readonly database: DatabaseService) {}

  async note({ provider, kind, receivedAt }: ReceivedSignal): Promise<void> {
    await this.database.query(NOTE, [provider, kind, receivedAt]);
  }

  all(): Promise<ReceivedSignal[]> {
    return readReceivedSignals(this.database);
  }
}

export function readReceivedSignals(sql: SqlRunner): Promise<ReceivedSignal[]> {
  return sql.query<ReceivedSignal>(
    `SELECT "provider", "kind", "received_at" AS "receivedAt" FROM "provider_signal"`,
  );
}
