import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/runtime/clock.js';
import { millisecondsSince, momentOf, type Moment } from '../../common/runtime/moment.js';

interface Entry<Value> {
  readonly accountId: string;
  readonly value: Value;
  /** The load began then, so the value is not older. */
  readonly from: Moment;
}

interface Load<Value> {
  readonly accountId: string;
  readonly from: Moment;
  readonly result: Promise<Value>;
  isStale: boolean;
}

/**
 * Keeps access facts by token for a few seconds. An invalidation is final: a load that began before
 * it is neither stored nor returned to a caller that asks after it.
 *
 * Facts count from the moment before they were read, by the wall or the monotonic clock: the answer
 * of storage may take long, and the process may be stopped meanwhile.
 */
export class AccessCache<Value> {
  private readonly tokensByAccount = new Map<string, Set<string>>();
  private readonly loads = new Map<string, Load<Value>>();
  private readonly entries: LRUCache<string, Entry<Value>>;

  private readonly ttlMs: number;

  constructor(
    private readonly clock: Clock,
    options: { readonly maxEntries: number; readonly ttlMs: number },
  ) {
    // Concurrent callers share a load even where nothing is kept.
    this.ttlMs = Math.max(options.ttlMs, 1);
    this.entries = new LRUCache({
      // Set as a size: for `max` entries the library allocates memory at once, 2 MiB of an idle
      // server.
      maxSize: options.maxEntries,
      sizeCalculation: () => 1,
      dispose: ({ accountId }, token) => this.forgetToken(accountId, token),
      noDisposeOnSet: true,
    });
  }

  peek(token: string): Value | undefined {
    const entry = this.entries.get(token);
    if (entry === undefined || this.isCurrent(entry.from)) {
      return entry?.value;
    }
    this.entries.delete(token);
    return undefined;
  }

  /** Calls `load` once for all concurrent callers with the time of the call, and caches its result. */
  load(accountId: string, token: string, load: (from: Moment) => Promise<Value>): Promise<Value> {
    const running = this.loads.get(token);
    if (running !== undefined && this.isCurrent(running.from)) {
      return running.result;
    }
    if (running !== undefined) {
      running.isStale = true;
    }
    const from = momentOf(this.clock);
    const started: Load<Value> = { accountId, from, isStale: false, result: load(from) };
    this.loads.set(token, started);
    void started.result
      .then((value) => started.isStale || this.remember(token, { accountId, value, from }))
      .catch(() => undefined)
      .finally(() => this.loads.get(token) === started && this.loads.delete(token));
    return started.result;
  }

  invalidate(accountId: string): void {
    for (const token of this.tokensByAccount.get(accountId) ?? []) {
      this.entries.delete(token);
    }
    for (const [token, load] of this.loads) {
      if (load.accountId === accountId) {
        load.isStale = true;
        this.loads.delete(token);
      }
    }
  }

  clear(): void {
    this.loads.forEach((load) => (load.isStale = true));
    this.loads.clear();
    this.entries.clear();
  }

  private isCurrent(from: Moment): boolean {
    return millisecondsSince(from, this.clock) < this.ttlMs;
  }

  private remember(token: string, entry: Entry<Value>): void {
    const { accountId } = entry;
    this.entries.set(token, entry);
    const tokens = this.tokensByAccount.get(accountId) ?? new Set();
    this.tokensByAccount.set(accountId, tokens.add(token));
  }

  private forgetToken(accountId: string, token: string): void {
    const tokens = this.tokensByAccount.get(accountId);
    tokens?.delete(token);
    if (tokens?.size === 0) {
      this.tokensByAccount.delete(accountId);
    }
  }
}
