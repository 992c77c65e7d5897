import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Slots } from './slots.js';
import {
  expiryOf,
  readSpoolEntry,
  targetKeyOf,
  type DeliveryEntry,
  type LastError,
  type SpoolEntry,
} from './spool-entry.js';
import {
  makeOwnDirectory,
  namesIn,
  readIfThere,
  removeLeftovers,
  renameIfThere,
  syncDirectory,
  writeWhole,
} from './spool-files.js';
import { SpoolHistory, type Ending } from './spool-history.js';
import { excessOf, LARGEST_ENTRY_BYTES, SPOOL_LIMITS, type SpoolLimits } from './spool-limits.js';
import { formatSpoolName, keyOf, laneOf, parseSpoolName, type SpoolName } from './spool-name.js';
import { hasEnded, ownerOfThisProcess } from './spool-owner.js';

export interface SpoolOptions {
  /** Of the spool alone; made where it is missing. */
  readonly directory: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly limits?: Partial<SpoolLimits>;
}

/** The right to try an entry, for a minute and for one process. */
export interface Claim {
  readonly entry: SpoolEntry;
  readonly name: string;
}

export interface Added {
  /** Claimed for this process: to be tried now. */
  readonly claims: readonly Claim[];
  /** Ids that the spool had already, waiting or ended. */
  readonly known: readonly string[];
  /** Ids of entries that had to go, so that there is space. */
  readonly displaced: readonly string[];
}

/** How long a claim counts when its process neither ends it nor dies; far longer than any try. */
export const LEASE_MS = 60_000;
/** Far below what a process may have open. */
const FILES_AT_ONCE = 64;

/**
 * Deliveries on disk, from before their first try until they ended: nothing that was added is lost
 * when a process is killed, and every id is tried at least once. One file an entry; several
 * processes may work on one directory at once.
 */
export class Spool {
  readonly history: SpoolHistory;
  private readonly queue: string;
  private readonly limits: SpoolLimits;
  private readonly owner = ownerOfThisProcess();
  private readonly slots = new Slots(FILES_AT_ONCE);
  private isReady = false;

  constructor(private readonly options: SpoolOptions) {
    this.limits = { ...SPOOL_LIMITS, ...options.limits };
    this.queue = join(options.directory, 'queue');
    this.history = new SpoolHistory(join(options.directory, 'ended'), this.limits.maxHistory);
  }

  /**
   * Writes entries and claims them. Resolves when they are on the disk.
   *
   * @throws RangeError for an entry of more than 64 KiB
   */
  async add(entries: readonly SpoolEntry[], dueAt?: number): Promise<Added> {
    await this.tidy();
    const taken = new Set([...(await this.waiting()), ...(await this.history.names())].map(toKey));
    const fresh = entries.filter(({ id }) => !taken.has(keyOf(id)));
    const displaced = await this.makeRoom(fresh);
    const due = dueAt ?? this.options.now();
    const write = (entry: SpoolEntry) =>
      this.slots.run(() => this.write(entry, due, dueAt === undefined));
    const claims = await Promise.all(fresh.map(write));
    await syncDirectory(this.queue);
    const known = entries.filter((entry) => !fresh.includes(entry)).map(({ id }) => id);
    return { claims: dueAt === undefined ? claims : [], known, displaced };
  }

  /** Writes an entry that is due later. */
  async keepForLater(entry: SpoolEntry, dueAt: number): Promise<void> {
    await this.write(entry, dueAt, false);
  }

  /** Makes the directories where they are missing, and removes what is too old to be of use. */
  async tidy(): Promise<void> {
    await this.prepare();
    await removeLeftovers(this.queue, this.options.now());
    await this.history.tidy(this.options.now());
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

  /** Null when another process has it, or when the file is damaged: then it is put aside. */
  async claim(name: SpoolName): Promise<Claim | null> {
    if (!isFree(name, this.options.now())) {
      return null;
    }
    const claimed = this.claimedName(name);
    if (!(await renameIfThere(this.path(formatSpoolName(name)), this.path(claimed)))) {
      return null;
    }
    const entry = await this.read(claimed);
    if (entry === null) {
      const aside = join(this.options.directory, 'damaged');
      await makeOwnDirectory(aside);
      await renameIfThere(this.path(claimed), join(aside, `${name.key}.json`));
      return null;
    }
    return { entry, name: claimed };
  }

  /** The entry needs no further try. */
  async end(claim: Claim, ending: Ending): Promise<void> {
    if (await this.isStillOurs(claim)) {
      await this.history.keep(claim.entry, ending);
      await rm(this.path(claim.name), { force: true });
    }
  }

  /** The entry is tried again later, by whoever works on the spool then. */
  async putBack(claim: Claim, dueAt: number, lastError: LastError | null): Promise<void> {
    // A computer that slept may have lost its claim: what the other process did counts.
    if (!(await this.isStillOurs(claim))) {
      return;
    }
    const attempts = claim.entry.attempts + (lastError === null ? 0 : 1);
    await this.write({ ...claim.entry, attempts, lastError }, dueAt, false);
    await rm(this.path(claim.name), { force: true });
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
  async redeliver(entry: DeliveryEntry, expiresAt: number): Promise<Claim> {
    await this.prepare();
    await this.history.forget(entry.id);
    const again = { ...entry, attempts: 0, lastError: null };
    const delivery = { ...entry.delivery, expiresAt };
    return this.write({ ...again, delivery }, this.options.now(), true);
  }

  private async prepare(): Promise<void> {
    if (!this.isReady) {
      await makeOwnDirectory(this.options.directory);
      await makeOwnDirectory(this.queue);
      this.isReady = true;
    }
  }

  private async write(entry: SpoolEntry, dueAt: number, isClaimed: boolean): Promise<Claim> {
    const text = JSON.stringify(entry);
    if (Buffer.byteLength(text) > LARGEST_ENTRY_BYTES) {
      throw new RangeError(`A delivery of more than ${LARGEST_ENTRY_BYTES} bytes`);
    }
    const lane = laneOf(targetKeyOf(entry));
    const name = { key: keyOf(entry.id), lane, dueAt, expiresAt: expiryOf(entry), claim: null };
    const file = isClaimed ? this.claimedName(name) : formatSpoolName(name);
    await writeWhole(this.queue, file, text, true);
    return { entry, name: file };
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
    try {
      return readSpoolEntry(JSON.parse((await readIfThere(this.path(file))) ?? 'null'));
    } catch {
      return null;
    }
  }

  private async isStillOurs({ name }: Claim): Promise<boolean> {
    return stat(this.path(name)).then(
      () => true,
      () => false,
    );
  }

  private claimedName(name: SpoolName): string {
    const leaseUntil = this.options.now() + LEASE_MS;
    return formatSpoolName({ ...name, claim: { owner: this.owner, leaseUntil } });
  }

  private path(file: string): string {
    return join(this.queue, file);
  }
}

function isFree({ claim }: SpoolName, now: number): boolean {
  return claim === null || claim.leaseUntil <= now || hasEnded(claim.owner);
}

function toKey({ key }: { readonly key: string }): string {
  return key;
}
