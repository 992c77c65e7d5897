import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  changedAt,
  makePrivateDirectory,
  namesIn,
  readJsonIfExists,
  removeAbandonedFiles,
  renameIfExists,
  syncDirectory,
  unlessUnusable,
  userDirectory,
  writePrivateFile,
} from '../../../common/private-files.js';
import { RECEIPT_AFTER_MS, type SentTicket } from '../../../packages/notify/push/push-results.js';
import type { Delivery, Ending, LastError } from '../../../packages/notify/delivery/delivery.js';
import { Slots } from '../../../packages/notify/delivery/slots.js';
import { DamagedFiles } from './damaged-files.js';
import { SpoolInbox } from './spool-inbox.js';
import {
  entryFor,
  EVENTS_TARGET,
  excessOf,
  PUSH_TARGET,
  readSpoolEntry,
  RECEIPT_TARGET,
  receiptEntryFor,
  SPOOL_LIMITS,
  spoolNameOf,
  spoolText,
  withoutContent,
  type DeliveryEntry,
  type EventsEntry,
  type SpoolEntry,
  type SpoolLimits,
} from './spool-entry.js';
import { NewestPushes } from './newest-pushes.js';
import { ResolvedRequests } from './resolved-requests.js';
import { SpoolHistory } from './spool-history.js';
import {
  formatSpoolName,
  isDue,
  isFree,
  keyOf,
  ownerOfThisProcess,
  parseSpoolName,
  type SpoolName,
} from './spool-name.js';

export interface SpoolOptions {
  /** The directory of the spool, created on demand. */
  readonly directory: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly limits?: Partial<SpoolLimits>;
}

/** The exclusive right of one process to attempt an entry, for a minute. */
export interface Claim<Entry extends SpoolEntry = SpoolEntry> {
  readonly entry: Entry;
  readonly name: string;
}

export type SpooledDelivery = Claim<DeliveryEntry>;
export type SpooledEvents = Claim<EventsEntry>;

export interface Added {
  /** Claimed by this process for an immediate attempt. */
  readonly claims: readonly SpooledDelivery[];
  /** Ids that were already in the spool, waiting or ended. */
  readonly known: readonly string[];
  /** Ids of entries that were removed to make room. */
  readonly displaced: readonly string[];
}

/** Deliveries to one target, which are attempted independently of other targets. */
export interface TargetQueue {
  /** True if several share a request: those through the push service of apps. */
  readonly isBatched: boolean;
  readonly items: readonly SpoolName[];
}

const NOTHING_ADDED: Added = { claims: [], known: [], displaced: [] };

/** Lifetime of a claim without an end or a living process; far longer than any attempt. */
export const LEASE_MS = 60_000;
/** Far below the limit of open files. */
const FILES_AT_ONCE = 64;
/** Bounds of the polling interval, because other processes may change the spool at any time. */
const SHORTEST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

export function spoolDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  return join(userDirectory('state', environment), 'spool');
}

/**
 * Stores events until deliveries replace them, and deliveries until they end: a killed process
 * loses nothing, and every id is attempted at least once (ADR 15).
 */
export class Spool {
  readonly history: SpoolHistory;
  readonly resolved: ResolvedRequests;
  readonly newest: NewestPushes;
  readonly damaged: DamagedFiles;
  private readonly queue: string;
  private readonly limits: SpoolLimits;
  private readonly inbox: SpoolInbox;
  private readonly owner = ownerOfThisProcess();
  private readonly slots = new Slots(FILES_AT_ONCE);
  private isReady = false;

  constructor(private readonly options: SpoolOptions) {
    this.limits = { ...SPOOL_LIMITS, ...options.limits };
    this.queue = join(options.directory, 'queue');
    this.damaged = new DamagedFiles(join(options.directory, 'damaged'), this.limits.maxDamaged);
    this.inbox = new SpoolInbox(this.queue, this.owner, this.damaged);
    this.resolved = new ResolvedRequests(join(options.directory, 'resolved'));
    this.newest = new NewestPushes(join(options.directory, 'newest'), options.now);
    this.history = new SpoolHistory(join(options.directory, 'ended'), this.limits.maxHistory);
  }

  /** Resolves when the events are on disk, claimed by this process or unclaimed. */
  async addEvents(entry: EventsEntry, isClaimed: boolean): Promise<SpooledEvents> {
    await this.prepare();
    const claim = await this.write(entry, this.options.now(), isClaimed);
    await syncDirectory(this.queue);
    return claim;
  }

  /** Adds the deliveries before it removes their events. */
  async replace(
    claim: SpooledEvents,
    deliveries: readonly Delivery[],
    dueAt?: number,
  ): Promise<Added> {
    const { account, denyPrivate } = claim.entry;
    const entries = deliveries.map((delivery) => entryFor(delivery, account, denyPrivate));
    const added = entries.length === 0 ? NOTHING_ADDED : await this.add(entries, dueAt);
    await this.discard(claim);
    return added;
  }

  discard({ name }: Claim): Promise<void> {
    return rm(this.path(name), { force: true });
  }

  /** @throws RangeError for an entry of more than 64 KiB */
  async add(entries: readonly DeliveryEntry[], dueAt?: number): Promise<Added> {
    await this.tidy();
    const unseen = await this.unknownOf(entries);
    const displaced = await this.makeRoom(unseen);
    const accepted = await this.addToInbox(unseen);
    // Another process may have added, and even sent, one in the meantime.
    const fresh = await this.unknownOf(accepted);
    await this.inbox.remove(accepted.filter((entry) => !fresh.includes(entry)));
    const isClaimed = dueAt === undefined;
    const claims = fresh.map((entry) => this.place(entry, dueAt ?? this.options.now(), isClaimed));
    const moved = await this.slots.filter(claims, (claim) => this.inbox.moveToQueue(claim));
    await syncDirectory(this.queue);
    const added = new Set(moved.map(({ entry }) => entry));
    const known = entries.filter((entry) => !added.has(entry)).map(({ id }) => id);
    return { claims: isClaimed ? moved : [], known, displaced };
  }

  /** Stores the ticket of an accepted push, whose receipt is requested later. */
  async expectReceipt(entry: DeliveryEntry, ticket: SentTicket): Promise<void> {
    const receipt = receiptEntryFor(entry, ticket);
    await this.write(receipt, ticket.sentAt + RECEIPT_AFTER_MS, false).catch(unlessUnusable);
  }

  async tidy(): Promise<void> {
    const now = this.options.now();
    await this.prepare();
    await removeAbandonedFiles(this.queue, now);
    await this.inbox.recover(now, Date.now() - LEASE_MS);
    await Promise.all([this.history, this.newest, this.damaged].map((store) => store.tidy(now)));
  }

  /** Names of the waiting entries, including those that ended processes had claimed. */
  async waiting(): Promise<readonly SpoolName[]> {
    const names = (await namesIn(this.queue)).map(parseSpoolName);
    return names.filter((name) => name !== null);
  }

  /** Names of due or expired entries, ordered by expiry. */
  async due(): Promise<readonly SpoolName[]> {
    const now = this.options.now();
    return (await this.waiting())
      .filter((name) => isDue(name, now) && isFree(name, now))
      .sort((one, other) => one.expiresAt - other.expiresAt || one.dueAt - other.dueAt);
  }

  /** Returns the targets with due or expired deliveries. */
  async dueByTarget(): Promise<readonly TargetQueue[]> {
    const targets = new Map<string, SpoolName[]>();
    for (const name of await this.due()) {
      targets.set(name.target, [...(targets.get(name.target) ?? []), name]);
    }
    targets.delete(RECEIPT_TARGET);
    targets.delete(EVENTS_TARGET);
    return Array.from(targets, ([target, items]) => ({ isBatched: target === PUSH_TARGET, items }));
  }

  /** @param ids of the relevant deliveries; default: all */
  async nextRoundAt(ids?: ReadonlySet<string>): Promise<number | null> {
    const now = this.options.now();
    const keys = ids && new Set([...ids].map(keyOf));
    const waiting = (await this.waiting()).filter(
      ({ target, key }) => target !== RECEIPT_TARGET && keys?.has(key) !== false,
    );
    const times = waiting.map(({ dueAt, expiresAt, claim }) =>
      claim === null ? Math.min(dueAt, expiresAt) : now,
    );
    const nextAt = Math.max(now + SHORTEST_WAIT_MS, Math.min(...times));
    return times.length === 0 ? null : Math.min(nextAt, now + LONGEST_WAIT_MS);
  }

  /** Claims one entry at a time, so that no lease expires before its events are planned. */
  async *claimEvents(isDueOnly: boolean): AsyncGenerator<SpooledEvents> {
    const now = this.options.now();
    const names = isDueOnly ? await this.due() : await this.waiting();
    for (const name of names.filter(({ target }) => target === EVENTS_TARGET)) {
      const claim = await this.claim(name);
      if (claim !== null && isOfEvents(claim) && claim.entry.expiresAt > now) {
        yield claim;
      } else if (claim !== null) {
        const { detail } = claim.entry.lastError ?? {};
        const ending = { state: 'dropped', code: 'expired', at: now } as const;
        await this.end(claim, { ...ending, ...(detail !== undefined && { detail }) });
      }
    }
  }

  /** Returns null if another process has claimed it. */
  async claimDelivery(name: SpoolName): Promise<SpooledDelivery | null> {
    const claim = await this.claim(name);
    return claim !== null && isDelivery(claim) ? claim : null;
  }

  /** Returns null if another process has claimed it, or if the file was damaged. */
  async claim(name: SpoolName): Promise<Claim | null> {
    if (!isFree(name, this.options.now())) {
      return null;
    }
    const claimed = this.claimedName(name);
    if (!(await renameIfExists(this.path(formatSpoolName(name)), this.path(claimed)))) {
      return null;
    }
    const entry = await this.read(claimed);
    if (entry === null) {
      await this.damaged.add(this.path(claimed), this.options.now(), `${name.key}.json`);
      return null;
    }
    return { entry, name: claimed };
  }

  async end(claim: Claim, ending: Ending, attempts = claim.entry.attempts): Promise<void> {
    if (await this.isStillOurs(claim)) {
      // On a full disk an ended delivery must not be sent again for lack of a record.
      const ended = { ...withoutContent(claim.entry), attempts };
      await this.history.add(ended, ending).catch(unlessUnusable);
      await rm(this.path(claim.name), { force: true });
    }
  }

  /** Returns the entry to the queue, for any process. */
  async putBack(
    claim: Claim,
    dueAt: number,
    lastError: LastError | null,
    attempts = claim.entry.attempts + (lastError === null ? 0 : 1),
  ): Promise<void> {
    // A suspended computer may have lost its claim to another process, whose result counts.
    if (!(await this.isStillOurs(claim))) {
      return;
    }
    try {
      await this.write({ ...claim.entry, attempts, lastError }, dueAt, false);
      await rm(this.path(claim.name), { force: true });
    } catch (error) {
      // On a full disk the claim remains; after its expiry, the entry is attempted again.
      unlessUnusable(error);
    }
  }

  async entries(): Promise<readonly { readonly entry: SpoolEntry; readonly name: SpoolName }[]> {
    const names = await this.waiting();
    const read = names.map((name) =>
      this.slots.run(async () => ({ name, entry: await this.read(formatSpoolName(name)) })),
    );
    return (await Promise.all(read)).flatMap(({ name, entry }) => (entry ? [{ name, entry }] : []));
  }

  /** Sends an ended delivery again under its id, until `expiresAt`. */
  async redeliver(entry: DeliveryEntry, expiresAt: number): Promise<SpooledDelivery> {
    await this.prepare();
    const again = { ...entry, attempts: 0, lastError: null };
    const delivery = { ...entry.delivery, expiresAt };
    const claim = await this.write({ ...again, delivery }, this.options.now(), true);
    // Not before: on a full disk the record stays.
    await this.history.remove(entry.id);
    return claim;
  }

  private async prepare(): Promise<void> {
    if (!this.isReady) {
      await makePrivateDirectory(this.options.directory);
      await makePrivateDirectory(this.queue);
      this.isReady = true;
    }
  }

  private async write<Entry extends SpoolEntry>(
    entry: Entry,
    dueAt: number,
    isClaimed: boolean,
  ): Promise<Claim<Entry>> {
    const claim = this.place(entry, dueAt, isClaimed);
    await writePrivateFile(this.path(claim.name), spoolText(entry));
    return claim;
  }

  private place<Entry extends SpoolEntry>(
    entry: Entry,
    dueAt: number,
    isClaimed: boolean,
  ): Claim<Entry> {
    const name = spoolNameOf(entry, dueAt);
    return { entry, name: isClaimed ? this.claimedName(name) : formatSpoolName(name) };
  }

  /** Adds all or none: a command that cannot write its spool sends them at once. */
  private async addToInbox(entries: readonly DeliveryEntry[]): Promise<readonly DeliveryEntry[]> {
    const adding = entries.map((entry) => this.slots.run(() => this.inbox.add(entry)));
    const results = await Promise.allSettled(adding);
    const added = entries.filter((_entry, index) => {
      const result = results[index];
      return result?.status === 'fulfilled' && result.value;
    });
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) {
      await this.inbox.remove(added);
      throw failed.reason;
    }
    return added;
  }

  /** Reads the queue first, because entries move from it to the history. */
  private async unknownOf(entries: readonly DeliveryEntry[]): Promise<readonly DeliveryEntry[]> {
    const waiting = await this.waiting();
    const taken = new Set([...waiting, ...(await this.history.names())].map(({ key }) => key));
    return entries.filter(({ id }) => !taken.has(keyOf(id)));
  }

  private async makeRoom(added: readonly SpoolEntry[]): Promise<readonly string[]> {
    const waiting = (await this.waiting())
      .filter(({ target }) => target !== EVENTS_TARGET)
      .sort((a, b) => a.expiresAt - b.expiresAt);
    const paths = waiting.map((name) => this.path(formatSpoolName(name)));
    const excess = await excessOf(paths, added, this.limits);
    const displaced: string[] = [];
    for (const name of waiting.slice(0, excess)) {
      const claim = await this.claim(name);
      if (claim !== null) {
        await this.end(claim, { state: 'dropped', code: 'spool-full', at: this.options.now() });
        displaced.push(claim.entry.id);
      }
    }
    return displaced;
  }

  private async read(file: string): Promise<SpoolEntry | null> {
    return readSpoolEntry(await readJsonIfExists(this.path(file)));
  }

  private async isStillOurs({ name }: Claim): Promise<boolean> {
    return (await changedAt(this.path(name))) !== Infinity;
  }

  private claimedName(name: SpoolName): string {
    const leaseUntil = this.options.now() + LEASE_MS;
    return formatSpoolName({ ...name, claim: { owner: this.owner, leaseUntil } });
  }

  private path(file: string): string {
    return join(this.queue, file);
  }
}

function isDelivery(claim: Claim): claim is SpooledDelivery {
  return claim.entry.kind === 'delivery';
}

function isOfEvents(claim: Claim): claim is SpooledEvents {
  return claim.entry.kind === 'events';
}
