import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import * as v from 'valibot';
import {
  RECEIPT_LOST_AFTER_MS,
  type SentTicket,
} from '../../../packages/notify/push/push-results.js';
import type { NotificationEvent } from '../../../packages/notify/content/notification-event.js';
import type {
  Delivery,
  LastError,
  StoredDelivery,
} from '../../../packages/notify/delivery/delivery.js';
import { resolutionOf } from '../../../packages/notify/delivery/resolution.js';
import { keyOf, targetKeyOf, type SpoolName } from './spool-name.js';

/** More than any delivery that this sender plans. */
export const LARGEST_ENTRY_BYTES = 64 * 1024;

/** The account whose current settings apply to a delivery. */
export interface SpoolAccount {
  /** As `parseServerUrl` returns it. */
  readonly server: string;
  readonly accountId: string;
  /** A local settings file; null = the account's settings. */
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
  /** True if every process refuses private addresses for it. */
  readonly denyPrivate: boolean;
}

/** The pending receipt of a push, requested 15 minutes after its acceptance. */
export interface ReceiptEntry extends EntryBase, SentTicket {
  readonly kind: 'receipt';
  readonly deliveryId: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** The options with which any process plans and sends the events. */
export interface SendOptions {
  readonly requestPreviews: boolean;
  readonly maskSecrets: boolean;
  /** True if private addresses are refused. */
  readonly denyPrivate: boolean;
}

/** Events that were not planned yet, because their account's settings were not read. */
export interface EventsEntry extends EntryBase, SendOptions {
  readonly kind: 'events';
  readonly events: readonly NotificationEvent[];
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

export type SpoolEntry = DeliveryEntry | ReceiptEntry | EventsEntry;

/** The maximum lifetime of an event. */
const LONGEST_TTL_MS = 3_600_000;

/** Builds the entry that is written before the server is contacted. */
export function eventsEntryFor(
  account: SpoolAccount,
  events: readonly NotificationEvent[],
  options: SendOptions,
): EventsEntry {
  const newest = events.reduce((at, { createdAt }) => Math.max(at, createdAt), 0);
  const id = `events-${randomBytes(12).toString('hex')}`;
  const base = { v: 1, id, account, attempts: 0, lastError: null } as const;
  return { ...base, kind: 'events', events, ...options, expiresAt: newest + LONGEST_TTL_MS };
}

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

/**
 * Returns the entry that replaces the shown message of an answered request; null where its target cannot.
 * @param messageId of a chat message, by the answer to its delivery
 */
export function replacementFor(
  { delivery: shown, ...entry }: DeliveryEntry,
  now: number,
  messageId?: string,
): DeliveryEntry | null {
  const delivery = resolutionOf(shown, now, undefined, messageId);
  return delivery && { ...entry, id: delivery.id, delivery, attempts: 0, lastError: null };
}

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

/** Returns an entry without what its events show: only unplanned ones need it. */
export function withoutContent(entry: SpoolEntry): SpoolEntry {
  if (entry.kind !== 'events') {
    return entry;
  }
  const events = entry.events.map(({ session: { sessionId }, ...event }) => {
    return { ...event, session: { sessionId, title: '' }, request: null, messageText: null };
  });
  return { ...entry, events: events.map((event) => ({ ...event, metadata: {} })) };
}

/** Shared targets of entries without a single webhook. */
export const PUSH_TARGET = targetKeyOf('push');
export const RECEIPT_TARGET = targetKeyOf('receipt');
export const EVENTS_TARGET = targetKeyOf('events');

export function spoolNameOf(entry: SpoolEntry, dueAt: number): SpoolName {
  const { expiresAt } = entry.kind === 'delivery' ? entry.delivery : entry;
  return { key: keyOf(entry.id), target: laneFor(entry), dueAt, expiresAt, claim: null };
}

function laneFor(entry: SpoolEntry): string {
  if (entry.kind !== 'delivery') {
    return entry.kind === 'receipt' ? RECEIPT_TARGET : EVENTS_TARGET;
  }
  const { delivery, account } = entry;
  switch (delivery.kind) {
    case 'push':
      return PUSH_TARGET;
    case 'web-push':
      return targetKeyOf(`web-push ${delivery.token}`);
    case 'webhook':
      return targetKeyOf(`${account.server} ${delivery.channelId}`);
  }
}

/** @throws RangeError for an entry of more than 64 KiB; input limits the size of events */
export function spoolText(entry: SpoolEntry, more: object = {}): string {
  const text = JSON.stringify({ ...entry, ...more });
  if (entry.kind !== 'events' && Buffer.byteLength(text) > LARGEST_ENTRY_BYTES) {
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
  v.looseObject({
    ...BASE,
    kind: v.literal('events'),
    events: v.array(v.looseObject({ id: v.string(), createdAt: v.number() })),
    expiresAt: v.number(),
  }),
]);

/** Returns null for an entry of a later version or a damaged one. */
export function readSpoolEntry(value: unknown): SpoolEntry | null {
  return v.is(ENTRY, value) ? (value as unknown as SpoolEntry) : null;
}

export const SPOOL_LIMITS = {
  maxWaiting: 5_000,
  maxBytes: 64 * 1024 * 1024,
  maxHistory: 3_000,
  maxDamaged: 100,
};

export type SpoolLimits = Readonly<typeof SPOOL_LIMITS>;

/** Returns the number of files to remove, from the first on, so that the `added` entries fit. */
export async function excessOf(
  paths: readonly string[],
  added: readonly object[],
  { maxWaiting, maxBytes }: SpoolLimits,
): Promise<number> {
  const tooMany = Math.max(0, paths.length + added.length - maxWaiting);
  if ((paths.length + added.length) * LARGEST_ENTRY_BYTES <= maxBytes) {
    return tooMany;
  }
  const sizes = await Promise.all(paths.map(sizeOf));
  const sizesAdded = added.map((entry) => Buffer.byteLength(JSON.stringify(entry)));
  let bytes = [...sizes, ...sizesAdded].reduce((sum, size) => sum + size, 0);
  let files = 0;
  for (const size of sizes) {
    if (bytes <= maxBytes) {
      break;
    }
    bytes -= size;
    files += 1;
  }
  return Math.max(tooMany, files);
}

function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
