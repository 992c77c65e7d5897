import * as v from 'valibot';
import { RECEIPT_LOST_AFTER_MS, type SentTicket } from '../push/push-results.js';
import type { Delivery, StoredDelivery } from './delivery.js';
import type { LastError } from './engine.js';
import { keyOf, laneOf, type SpoolName } from './spool-name.js';

/** Larger than any delivery becomes that this sender plans. */
export const LARGEST_ENTRY_BYTES = 64 * 1024;

/** Where the settings of a delivery are read again before another try. */
export interface SpoolAccount {
  /** As `parseServerUrl` returns it. */
  readonly server: string;
  readonly accountId: string;
  /** A local file with the settings, where the caller named one. */
  readonly settingsFile: string | null;
}

interface EntryBase {
  readonly v: 1;
  readonly id: string;
  readonly account: SpoolAccount;
  readonly attempts: number;
  readonly lastError: LastError | null;
}

export interface DeliveryEntry extends EntryBase {
  readonly kind: 'delivery';
  readonly delivery: StoredDelivery;
  readonly isSigned: boolean;
  /** Whether private addresses are refused, by whatever process tries it. */
  readonly denyPrivate: boolean;
}

/** The receipt of a push, asked for 15 minutes after the push was accepted. */
export interface ReceiptEntry extends EntryBase, SentTicket {
  readonly kind: 'receipt';
  readonly deliveryId: string;
  /** Unix milliseconds. */
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
  if (delivery.kind === 'web-push') {
    const { key, ...stored } = delivery;
    return { ...base, kind: 'delivery', delivery: stored, isSigned: key.privateKey !== '' };
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

/** The lanes that entries of no single webhook share. */
export const PUSH_LANE = laneOf('push');
export const RECEIPT_LANE = laneOf('receipt');

/** When an entry no longer matters. Unix milliseconds. */
export function expiryOf(entry: SpoolEntry): number {
  return entry.kind === 'receipt' ? entry.expiresAt : entry.delivery.expiresAt;
}

/** The name of its file while no process tries it. */
export function spoolNameOf(entry: SpoolEntry, dueAt: number): SpoolName {
  const lane = laneFor(entry);
  return { key: keyOf(entry.id), lane, dueAt, expiresAt: expiryOf(entry), claim: null };
}

function laneFor(entry: SpoolEntry): string {
  if (entry.kind === 'receipt') {
    return RECEIPT_LANE;
  }
  const { delivery, account } = entry;
  switch (delivery.kind) {
    case 'push':
      return PUSH_LANE;
    case 'web-push':
      return laneOf(`web-push ${delivery.token}`);
    case 'webhook':
      return laneOf(`${account.server} ${delivery.channelId}`);
  }
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

const BASE = {
  v: v.literal(1),
  id: v.string(),
  attempts: v.number(),
  account: v.looseObject({ server: v.string(), accountId: v.string() }),
};
const DELIVERY = { id: v.string(), topic: v.string(), expiresAt: v.number() };
const TARGETS = v.variant('kind', [
  v.looseObject({ ...DELIVERY, kind: v.picklist(['push', 'web-push']), token: v.string() }),
  v.looseObject({
    ...DELIVERY,
    kind: v.literal('webhook'),
    channelId: v.string(),
    url: v.string(),
    body: v.string(),
  }),
]);
const ENTRY = v.variant('kind', [
  v.looseObject({ ...BASE, kind: v.literal('delivery'), delivery: TARGETS }),
  v.looseObject({
    ...BASE,
    kind: v.literal('receipt'),
    receiptId: v.string(),
    token: v.string(),
    deliveryId: v.string(),
    sentAt: v.number(),
    expiresAt: v.number(),
  }),
]);

/** Reads a stored entry; null when it is none, written by a later version or damaged. */
export function readSpoolEntry(value: unknown): SpoolEntry | null {
  return v.is(ENTRY, value) ? (value as unknown as SpoolEntry) : null;
}
