import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Slots } from './slots.js';
import { SpoolEntrance } from './spool-entrance.js';
import {
  readSpoolEntry,
  spoolNameOf,
  spoolText,
  type DeliveryEntry,
  type LastError,
  type SpoolEntry,
} from './spool-entry.js';
import {
  changedAt,
  makeOwnDirectory,
  namesIn,
  readIfThere,
  removeLeftovers,
  renameIfThere,
  syncDirectory,
  writeWhole,
} from './spool-files.js';
import { SpoolHistory, type Ending } from './spool-history.js';
import { excessOf, SPOOL_LIMITS, type SpoolLimits } from './spool-limits.js';
import { formatSpoolName, keyOf, parseSpoolName, type SpoolName } from './spool-name.js';
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
  private readonly entrance: SpoolEntrance;
  private readonly owner = ownerOfThisProcess();
  private readonly slots = new Slots(FILES_AT_ONCE);
  private isReady = false;

  constructor(private readonly options: SpoolOptions) {
    this.limits = { ...SPOOL_LIMITS, ...options.limits };
    this.queue = join(options.directory, 'queue');
    this.entrance = new SpoolEntrance(this.queue, this.owner);
    this.history = new SpoolHistory(join(options.directory, 'ended'), this.limits.maxHistory);
  }

  /**
   * Writes entries and claims them. Resolves when they are on the disk.
   *
   * @throws RangeError for an entry of more than 64 KiB
   */
  async add(entries: readonly SpoolEntry[], dueAt?: number): Promise<Added> {
    await this.tidy();
    const unseen = await this.unknownOf(entries);
    const displaced = await this.makeRoom(unseen);
    const entered = await this.slots.filter(unseen, (entry) => this.entrance.enter(entry));
    // In the meantime another process may have added one, and even sent it.
    const fresh = await this.unknownOf(entered);
    await this.entrance.withdraw(entered.filter((entry) => !fresh.includes(entry)));
    const isClaimed = dueAt === undefined;
    const claims = fresh.map((entry) => this.place(entry, dueAt ?? this.options.now(), isClaimed));
    const admitted = await this.slots.filter(claims, (claim) => this.entrance.admit(claim));
    await syncDirectory(this.queue);
    const added = new Set(admitted.map(({ entry }) => entry));
    const known = entries.filter((entry) => !added.has(entry)).map(({ id }) => id);
    return { claims: isClaimed ? admitted : [], known, displaced };
  }

  /** Writes an entry that is due later. */
  async keepForLater(entry: SpoolEntry, dueAt: number): Promise<void> {
    await this.write(entry, dueAt, false);
  }

  /** Makes the directories where they are missing, and removes what is too old to be of use. */
  async tidy(): Promise<void> {
    const now = this.options.now();
    await this.prepare();
    await removeLeftovers(this.queue, now);
    await this.entrance.adopt(now, Date.now() - LEASE_MS);
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
    const claim = this.place(entry, dueAt, isClaimed);
    await writeWhole(this.queue, claim.name, spoolText(entry), true);
    return claim;
  }

  private place(entry: SpoolEntry, dueAt: number, isClaimed: boolean): Claim {
    const name = spoolNameOf(entry, dueAt);
    return { entry, name: isClaimed ? this.claimedName(name) : formatSpoolName(name) };
  }

  /** Those whose ids are neither waiting nor kept: the queue first, as entries move from it there. */
  private async unknownOf(entries: readonly SpoolEntry[]): Promise<readonly SpoolEntry[]> {
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
    try {
      return readSpoolEntry(JSON.parse((await readIfThere(this.path(file))) ?? 'null'));
    } catch {
      return null;
    }
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

function isFree({ claim }: SpoolName, now: number): boolean {
  return claim === null || claim.leaseUntil <= now || hasEnded(claim.owner);
}
