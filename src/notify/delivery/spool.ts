import { rm, stat } from 'node:fs/promises';
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
} from '../../common/private-files.js';
import { RECEIPT_AFTER_MS, type SentTicket } from '../push/push-results.js';
import { type DeliveryStore, type Ending, type Lane, type LastError } from './engine.js';
import { Slots } from './slots.js';
import { SpoolInbox } from './spool-inbox.js';
import {
  LARGEST_ENTRY_BYTES,
  PUSH_LANE,
  readSpoolEntry,
  RECEIPT_LANE,
  receiptEntryFor,
  spoolNameOf,
  spoolText,
  type DeliveryEntry,
  type SpoolEntry,
} from './spool-entry.js';
import { SpoolHistory } from './spool-history.js';
import {
  formatSpoolName,
  hasEnded,
  keyOf,
  ownerOfThisProcess,
  parseSpoolName,
  type SpoolName,
} from './spool-name.js';

const SPOOL_LIMITS = {
  /** Entries that wait. */
  maxWaiting: 5_000,
  /** Of entries that wait. */
  maxBytes: 64 * 1024 * 1024,
  /** Ended entries that are kept to be looked at. */
  maxHistory: 3_000,
};

export type SpoolLimits = Readonly<typeof SPOOL_LIMITS>;

export interface SpoolOptions {
  /** Of the spool alone; made where it is missing. */
  readonly directory: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly limits?: Partial<SpoolLimits>;
}

/** The right to try an entry, for a minute and for one process. */
export interface Claim<Entry extends SpoolEntry = SpoolEntry> {
  readonly entry: Entry;
  readonly name: string;
}

export type SpooledDelivery = Claim<DeliveryEntry>;

export interface Added {
  /** Claimed for this process: to be tried now. */
  readonly claims: readonly SpooledDelivery[];
  /** Ids that the spool had already, waiting or ended. */
  readonly known: readonly string[];
  /** Ids of entries that had to go, so that there is space. */
  readonly displaced: readonly string[];
}

/** How long a claim counts when its process neither ends it nor dies; far longer than any try. */
export const LEASE_MS = 60_000;
/** Far below what a process may have open. */
const FILES_AT_ONCE = 64;
/** The push service takes so many messages in one request. */
const PUSH_BATCH = 100;
/** Other processes may add and send at any time: so often a process that waits looks again. */
const SHORTEST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

/** This user's spool. */
export function spoolDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  return join(userDirectory('state', environment), 'spool');
}

/**
 * Deliveries on disk, from before their first try until they ended: nothing that was added is lost
 * when a process is killed, and every id is tried at least once. One file an entry; several
 * processes may work on one directory at once.
 */
export class Spool implements DeliveryStore<SpooledDelivery, SpoolName> {
  readonly history: SpoolHistory;
  readonly pushBatchSize = PUSH_BATCH;
  private readonly queue: string;
  private readonly limits: SpoolLimits;
  private readonly inbox: SpoolInbox;
  private readonly owner = ownerOfThisProcess();
  private readonly slots = new Slots(FILES_AT_ONCE);
  private isReady = false;

  constructor(private readonly options: SpoolOptions) {
    this.limits = { ...SPOOL_LIMITS, ...options.limits };
    this.queue = join(options.directory, 'queue');
    this.inbox = new SpoolInbox(this.queue, this.owner);
    this.history = new SpoolHistory(join(options.directory, 'ended'), this.limits.maxHistory);
  }

  /**
   * Writes entries and claims them. Resolves when they are on the disk.
   *
   * @throws RangeError for an entry of more than 64 KiB
   */
  async add(entries: readonly DeliveryEntry[], dueAt?: number): Promise<Added> {
    await this.tidy();
    const unseen = await this.unknownOf(entries);
    const displaced = await this.makeRoom(unseen);
    const entered = await this.slots.filter(unseen, (entry) => this.inbox.enter(entry));
    // In the meantime another process may have added one, and even sent it.
    const fresh = await this.unknownOf(entered);
    await this.inbox.withdraw(entered.filter((entry) => !fresh.includes(entry)));
    const isClaimed = dueAt === undefined;
    const claims = fresh.map((entry) => this.place(entry, dueAt ?? this.options.now(), isClaimed));
    const admitted = await this.slots.filter(claims, (claim) => this.inbox.admit(claim));
    await syncDirectory(this.queue);
    const added = new Set(admitted.map(({ entry }) => entry));
    const known = entries.filter((entry) => !added.has(entry)).map(({ id }) => id);
    return { claims: isClaimed ? admitted : [], known, displaced };
  }

  /** Keeps the question for a receipt until the push service can answer it. */
  async expectReceipt(entry: DeliveryEntry, ticket: SentTicket): Promise<void> {
    const receipt = receiptEntryFor(entry, ticket);
    await this.write(receipt, ticket.sentAt + RECEIPT_AFTER_MS, false).catch(unlessUnusable);
  }

  /** Makes the directories where they are missing, and removes what is too old to be of use. */
  async tidy(): Promise<void> {
    const now = this.options.now();
    await this.prepare();
    await removeAbandonedFiles(this.queue, now);
    await this.inbox.adopt(now, Date.now() - LEASE_MS);
    await this.history.tidy(now);
  }

  /** What waits, as its files are named. Claims of processes that ended count for nothing. */
  async waiting(): Promise<readonly SpoolName[]> {
    const names = (await namesIn(this.queue)).map(parseSpoolName);
    return names.filter((name) => name !== null);
  }

  /** What may be tried now or has expired, what ends first at the beginning. */
  async due(): Promise<readonly SpoolName[]> {
    const now = this.options.now();
    return (await this.waiting())
      .filter((name) => (name.dueAt <= now || name.expiresAt <= now) && isFree(name, now))
      .sort((one, other) => one.expiresAt - other.expiresAt || one.dueAt - other.dueAt);
  }

  /** The deliveries among them, by target. */
  async dueLanes(): Promise<readonly Lane<SpoolName>[]> {
    const lanes = new Map<string, SpoolName[]>();
    for (const name of await this.due()) {
      lanes.set(name.lane, [...(lanes.get(name.lane) ?? []), name]);
    }
    lanes.delete(RECEIPT_LANE);
    return Array.from(lanes, ([lane, items]) => ({
      isBatched: lane === PUSH_LANE,
      items,
    }));
  }

  async nextRoundAt(ids?: ReadonlySet<string>): Promise<number | null> {
    const now = this.options.now();
    const keys = ids && new Set([...ids].map(keyOf));
    const waiting = (await this.waiting()).filter(
      ({ lane, key }) => lane !== RECEIPT_LANE && keys?.has(key) !== false,
    );
    const times = waiting.map(({ dueAt, expiresAt, claim }) =>
      claim === null ? Math.min(dueAt, expiresAt) : now,
    );
    const nextAt = Math.max(now + SHORTEST_WAIT_MS, Math.min(...times));
    return times.length === 0 ? null : Math.min(nextAt, now + LONGEST_WAIT_MS);
  }

  async claimDelivery(name: SpoolName): Promise<SpooledDelivery | null> {
    const claim = await this.claim(name);
    return claim !== null && isDelivery(claim) ? claim : null;
  }

  /** Null when another process has it, or when the file is damaged: then it is put aside. */
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
      const aside = join(this.options.directory, 'damaged');
      await makePrivateDirectory(aside);
      await renameIfExists(this.path(claimed), join(aside, `${name.key}.json`));
      return null;
    }
    return { entry, name: claimed };
  }

  /** The entry needs no further try. */
  async end(claim: Claim, ending: Ending, attempts = claim.entry.attempts): Promise<void> {
    if (await this.isStillOurs(claim)) {
      // On a full disk: what has ended must not be sent again because it cannot be looked up.
      await this.history.keep({ ...claim.entry, attempts }, ending).catch(unlessUnusable);
      await rm(this.path(claim.name), { force: true });
    }
  }

  /** The entry is tried again later, by any process that works on the spool then. */
  async putBack(claim: Claim, dueAt: number, lastError: LastError | null): Promise<void> {
    // A computer that slept may have lost its claim: what the other process did counts.
    if (!(await this.isStillOurs(claim))) {
      return;
    }
    const attempts = claim.entry.attempts + (lastError === null ? 0 : 1);
    try {
      await this.write({ ...claim.entry, attempts, lastError }, dueAt, false);
      await rm(this.path(claim.name), { force: true });
    } catch (error) {
      // On a full disk the claim stays: once it counts for nothing, the entry is tried again.
      unlessUnusable(error);
    }
  }

  /** Everything that waits, read from disk. */
  async entries(): Promise<readonly { readonly entry: SpoolEntry; readonly name: SpoolName }[]> {
    const names = await this.waiting();
    const read = names.map((name) =>
      this.slots.run(async () => ({ name, entry: await this.read(formatSpoolName(name)) })),
    );
    return (await Promise.all(read)).flatMap(({ name, entry }) => (entry ? [{ name, entry }] : []));
  }

  /** Sends an ended delivery once more, under its id, until `expiresAt`. */
  async redeliver(entry: DeliveryEntry, expiresAt: number): Promise<SpooledDelivery> {
    await this.prepare();
    await this.history.forget(entry.id);
    const again = { ...entry, attempts: 0, lastError: null };
    const delivery = { ...entry.delivery, expiresAt };
    return this.write({ ...again, delivery }, this.options.now(), true);
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

  /** Those whose ids are neither waiting nor kept: the queue first, as entries move from it there. */
  private async unknownOf(entries: readonly DeliveryEntry[]): Promise<readonly DeliveryEntry[]> {
    const waiting = await this.waiting();
    const taken = new Set([...waiting, ...(await this.history.names())].map(({ key }) => key));
    return entries.filter(({ id }) => !taken.has(keyOf(id)));
  }

  /** What expires first goes first: it is the least that can be lost. */
  private async makeRoom(added: readonly SpoolEntry[]): Promise<readonly string[]> {
    const waiting = [...(await this.waiting())].sort((a, b) => a.expiresAt - b.expiresAt);
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

function isFree({ claim }: SpoolName, now: number): boolean {
  return claim === null || claim.leaseUntil <= now || hasEnded(claim.owner);
}

/** How many of these files, from the first on, have to go before the `added` entries fit. */
async function excessOf(
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
