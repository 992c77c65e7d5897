import { isRecord } from '../client/problem.js';
import { RECEIPT_LOST_AFTER_MS, type SentTicket } from './push-receipts.js';
import type { Delivery, PushDelivery, WebhookDelivery } from './delivery.js';
import { LARGEST_ENTRY_BYTES } from './spool-limits.js';
import { keyOf, laneOf, type SpoolName } from './spool-name.js';

/** Where the settings of a delivery are read again before another try. */
export interface SpoolAccount {
  /** As `parseServerUrl` returns it. */
  readonly server: string;
  readonly accountId: string;
  /** A local file with the settings, where the caller named one. */
  readonly settingsFile: string | null;
}

export interface LastError {
  readonly code: string;
  readonly detail: string;
  /** Unix milliseconds. */
  readonly at: number;
}

interface EntryBase {
  readonly v: 1;
  readonly id: string;
  readonly account: SpoolAccount;
  readonly attempts: number;
  readonly lastError: LastError | null;
}

/** A webhook without its signing secrets: they are in the settings, and stay there alone. */
export type StoredDelivery = PushDelivery | Omit<WebhookDelivery, 'secrets'>;

export interface DeliveryEntry extends EntryBase {
  readonly kind: 'delivery';
  readonly delivery: StoredDelivery;
  readonly isSigned: boolean;
  /** Whether private addresses are refused, by whatever process tries it. */
  readonly denyPrivate: boolean;
}

/** The question what became of a push, asked 15 minutes after it was accepted. */
export interface ReceiptEntry extends EntryBase {
  readonly kind: 'receipt';
  readonly receiptId: string;
  readonly token: string;
  readonly deliveryId: string;
  /** Unix milliseconds, as is `expiresAt`. */
  readonly sentAt: number;
  readonly expiresAt: number;
}

export type SpoolEntry = DeliveryEntry | ReceiptEntry;

/** What is written to disk for a delivery before its first try. */
export function entryFor(
  delivery: Delivery,
  account: SpoolAccount,
  denyPrivate: boolean,
): DeliveryEntry {
  const fresh = { attempts: 0, lastError: null, denyPrivate } as const;
  const base = { v: 1, id: delivery.id, account, ...fresh } as const;
  if (delivery.kind === 'push') {
    return { ...base, kind: 'delivery', delivery, isSigned: false };
  }
  const { secrets, ...stored } = delivery;
  return { ...base, kind: 'delivery', delivery: stored, isSigned: secrets.length > 0 };
}

/** What is written to disk when a push was accepted. */
export function receiptEntryFor(
  { delivery, account }: DeliveryEntry,
  receipt: SentTicket,
): ReceiptEntry {
  return {
    v: 1,
    kind: 'receipt',
    id: `receipt-${receipt.receiptId}`,
    account,
    attempts: 0,
    lastError: null,
    deliveryId: delivery.id,
    expiresAt: receipt.sentAt + RECEIPT_LOST_AFTER_MS,
    ...receipt,
  };
}

/** When an entry no longer matters. Unix milliseconds. */
export function expiryOf(entry: SpoolEntry): number {
  return entry.kind === 'receipt' ? entry.expiresAt : entry.delivery.expiresAt;
}

/** What its file is called while nobody tries it. */
export function spoolNameOf(entry: SpoolEntry, dueAt: number): SpoolName {
  const lane = laneOf(targetKeyOf(entry));
  return { key: keyOf(entry.id), lane, dueAt, expiresAt: expiryOf(entry), claim: null };
}

/** What an entry waits for; entries of one target share it. */
function targetKeyOf(entry: SpoolEntry): string {
  if (entry.kind === 'receipt') {
    return 'receipt';
  }
  const { delivery, account } = entry;
  return delivery.kind === 'push' ? 'push' : `${account.server} ${delivery.channelId}`;
}

/**
 * An entry as it stands on the disk.
 *
 * @param more facts beside it, which readers of the entry do not see
 * @throws RangeError for an entry of more than 64 KiB
 */
export function spoolText(entry: SpoolEntry, more: object = {}): string {
  const text = JSON.stringify({ ...entry, ...more });
  if (Buffer.byteLength(text) > LARGEST_ENTRY_BYTES) {
    throw new RangeError(`A delivery of more than ${LARGEST_ENTRY_BYTES} bytes`);
  }
  return text;
}

/** Reads a stored entry; null when it is none, written by a later version or damaged. */
export function readSpoolEntry(value: unknown): SpoolEntry | null {
  if (!isRecord(value) || value['v'] !== 1 || !hasFields(value, ENTRY_FIELDS)) {
    return null;
  }
  const isKnown =
    hasFields(value['account'], ACCOUNT_FIELDS) &&
    (value['kind'] === 'receipt' ? hasFields(value, RECEIPT_FIELDS) : isDeliveryEntry(value));
  return isKnown ? (value as unknown as SpoolEntry) : null;
}

type Fields = Readonly<Record<string, 'string' | 'number'>>;
const ENTRY_FIELDS: Fields = { id: 'string', attempts: 'number' };
const ACCOUNT_FIELDS: Fields = { server: 'string', accountId: 'string' };
const RECEIPT_FIELDS: Fields = {
  receiptId: 'string',
  token: 'string',
  deliveryId: 'string',
  sentAt: 'number',
  expiresAt: 'number',
};
const DELIVERY_FIELDS: Fields = { id: 'string', topic: 'string', expiresAt: 'number' };
const TARGET_FIELDS: Readonly<Record<string, Fields>> = {
  push: { token: 'string' },
  webhook: { channelId: 'string', url: 'string', body: 'string' },
};

function isDeliveryEntry({ kind, delivery }: Record<string, unknown>): boolean {
  const fields = isRecord(delivery) ? TARGET_FIELDS[String(delivery['kind'])] : undefined;
  return (
    kind === 'delivery' &&
    fields !== undefined &&
    hasFields(delivery, { ...DELIVERY_FIELDS, ...fields })
  );
}

function hasFields(value: unknown, fields: Fields): boolean {
  return (
    isRecord(value) && Object.entries(fields).every(([name, type]) => typeof value[name] === type)
  );
}
