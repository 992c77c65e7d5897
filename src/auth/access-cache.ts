import { LRUCache } from 'lru-cache';
import type { Clock } from '../common/runtime/clock.js';

interface Entry<Value> {
  readonly accountId: string;
  readonly value: Value;
}

interface Load<Value> {
  readonly accountId: string;
  readonly result: Promise<Value>;
  isStale: boolean;
}

/**
 * Keeps access facts by token for a few seconds. An invalidation is final: a load that began before
 * it is neither stored nor returned to a caller that asks after it.
 */
export class AccessCache<Value> {
  private readonly tokensByAccount = new Map<string, Set<string>>();
  private readonly loads = new Map<string, Load<Value>>();
  private readonly entries: LRUCache<string, Entry<Value>>;

  constructor(clock: Clock, options: { readonly maxEntries: number; readonly ttlMs: number }) {
    this.entries = new LRUCache({
      // Set as a size: for `max` entries the library allocates memory at once, 2 MiB of an idle
      // server.
      maxSize: options.maxEntries,
      sizeCalculation: () => 1,
      // 0 would mean "forever".
      ttl: Math.max(options.ttlMs, 1),
      perf: { now: () => clock.elapsed() },
      // Otherwise the library keeps the time for a millisecond, by a timer of its own.
      ttlResolution: 0,
      dispose: ({ accountId }, token) => this.forgetToken(accountId, token),
      noDisposeOnSet: true,
    });
  }

  peek(token: string): Value | undefined {
    return this.entries.get(token)?.value;
  }

  /** Calls `load` once for all concurrent callers, and caches its result. */
  load(accountId: string, token: string, load: () => Promise<Value>): Promise<Value> {
    const running = this.loads.get(token);
    if (running !== undefined) {
      return running.result;
    }
    const started: Load<Value> = { accountId, isStale: false, result: load() };
    this.loads.set(token, started);
    void started.result
      .then((value) => started.isStale || this.remember(accountId, token, value))
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

  private remember(accountId: string, token: string, value: Value): void {
    this.entries.set(token, { accountId, value });
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
