import { LRUCache } from 'lru-cache';

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
 * What is known about each token, for a few seconds, at most `maxEntries` of them. One load per
 * token at a time. An invalidation is final: a load that began before it is neither stored nor
 * returned to a caller that asks after it.
 */
export class AccessCache<Value> {
  private readonly tokensByAccount = new Map<string, Set<string>>();
  private readonly loads = new Map<string, Load<Value>>();
  private readonly entries: LRUCache<string, Entry<Value>>;

  constructor(options: { readonly maxEntries: number; readonly ttlMs: number }) {
    this.entries = new LRUCache({
      // As a size: for `max` entries the library sets room aside at once, 2 MiB of an idle server.
      maxSize: options.maxEntries,
      sizeCalculation: () => 1,
      // 0 would mean "for ever".
      ttl: Math.max(options.ttlMs, 1),
      dispose: ({ accountId }, token) => this.forgetToken(accountId, token),
      noDisposeOnSet: true,
    });
  }

  /** What is known now, without waiting; undefined when nothing is. */
  peek(token: string): Value | undefined {
    return this.entries.get(token)?.value;
  }

  /** Asks `load`, once for all who ask at the same time, and remembers its answer. */
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

  /** Forgets everything about an account, answers still under way included. */
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

  /** Forgets everything, answers still under way included. */
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
