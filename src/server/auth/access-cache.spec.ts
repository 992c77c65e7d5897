import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { AccessCache } from './access-cache.js';

const TTL_MS = 5000;

/** A clock whose wall and monotonic time can be moved apart. */
class TwoClocks extends ManualClock {
  sleptMs = 0;

  override now(): number {
    return this.nowMs + this.sleptMs;
  }
}

describe(AccessCache.name, () => {
  let clock: TwoClocks;
  let cache: AccessCache<string>;

  beforeEach(() => {
    clock = new TwoClocks(1_000_000);
    cache = new AccessCache(clock, { maxEntries: 2, ttlMs: TTL_MS });
  });

  const settled = async (): Promise<void> => new Promise((done) => setImmediate(done));

  const remember = async (token: string, value = 'admitted'): Promise<void> => {
    await cache.load('account', token, () => Promise.resolve(value));
    await settled();
  };

  /** Starts a load that ends when the returned function is called. */
  const beginLoad = (token: string): { result: Promise<string>; end(value: string): void } => {
    const { promise, resolve } = deferred();
    return { result: cache.load('account', token, () => promise), end: resolve };
  };

  it('keeps a value for its time and no longer', async () => {
    await remember('token');
    clock.nowMs += TTL_MS - 1;
    expect(cache.peek('token')).toBe('admitted');
    clock.nowMs += 1;
    expect(cache.peek('token')).toBeUndefined();
  });

  it('passes the time to a load from which its value counts', async () => {
    const value = await cache.load('account', 'token', ({ wallMs }) =>
      Promise.resolve(`${wallMs}`),
    );
    expect(value).toBe(`${clock.now()}`);
  });

  it('counts the time of a value from the begin of its load', async () => {
    const load = beginLoad('token');
    clock.nowMs += TTL_MS - 1;
    load.end('admitted');
    await settled();
    expect(cache.peek('token')).toBe('admitted');
    clock.nowMs += 1;
    expect(cache.peek('token')).toBeUndefined();
  });

  it('does not keep the answer to a load from before a long stop of the process', async () => {
    const load = beginLoad('token');
    clock.nowMs += 60_000;
    load.end('admitted');
    await settled();
    expect(cache.peek('token')).toBeUndefined();
  });

  it('does not let a new caller join a load that is too old, nor keep its answer', async () => {
    const old = beginLoad('token');
    clock.nowMs += TTL_MS;
    const current = beginLoad('token');
    current.end('refused');
    await settled();
    old.end('admitted');
    await settled();
    expect(await current.result).toBe('refused');
    expect(cache.peek('token')).toBe('refused');
  });

  it('shares one load among simultaneous callers', async () => {
    const first = beginLoad('token');
    const second = beginLoad('token');
    first.end('admitted');
    expect(await second.result).toBe('admitted');
  });

  it('forgets a value after the machine slept, where the monotonic clock stood still', async () => {
    await remember('token');
    clock.sleptMs = TTL_MS;
    expect(cache.peek('token')).toBeUndefined();
  });

  it('forgets a value when the wall clock steps back', async () => {
    await remember('token');
    clock.sleptMs = -TTL_MS;
    expect(cache.peek('token')).toBeUndefined();
  });

  it('forgets and does not share a load that began before an invalidation', async () => {
    const before = beginLoad('token');
    cache.invalidate('account');
    const after = beginLoad('token');
    before.end('admitted');
    after.end('refused');
    await settled();
    expect(await after.result).toBe('refused');
    expect(cache.peek('token')).toBe('refused');
  });

  it('keeps no answer to a load from before an invalidation, whichever load ends first', async () => {
    const before = beginLoad('token');
    cache.invalidate('account');
    const after = beginLoad('token');
    after.end('refused');
    await settled();
    before.end('admitted');
    await settled();
    expect(cache.peek('token')).toBe('refused');
  });

  it('keeps no answer to a load from before all values were removed', async () => {
    const before = beginLoad('token');
    cache.clear();
    const after = beginLoad('token');
    after.end('refused');
    await settled();
    before.end('admitted');
    await settled();
    expect(await after.result).toBe('refused');
    expect(cache.peek('token')).toBe('refused');
  });

  it('keeps the answer to a load while another account is invalidated', async () => {
    const load = beginLoad('token');
    cache.invalidate('other');
    const joined = beginLoad('token');
    load.end('admitted');
    await settled();
    expect(await joined.result).toBe('admitted');
    expect(cache.peek('token')).toBe('admitted');
  });

  it('loads again after a load that failed', async () => {
    const failing = cache.load('account', 'token', () => Promise.reject(new Error('away')));
    await expect(failing).rejects.toThrow('away');
    await settled();
    await remember('token');
    expect(cache.peek('token')).toBe('admitted');
  });

  it('shares a load also after an older one has ended', async () => {
    const old = beginLoad('token');
    clock.nowMs += TTL_MS;
    const current = beginLoad('token');
    old.end('admitted');
    await settled();
    const joined = beginLoad('token');
    current.end('refused');
    expect(await joined.result).toBe('refused');
  });

  it('removes every value of an account of which one was dropped before', async () => {
    await remember('one');
    await remember('two');
    await remember('three');
    cache.invalidate('account');
    expect([cache.peek('two'), cache.peek('three')]).toEqual([undefined, undefined]);
  });

  it('keeps at most its number of values', async () => {
    await remember('one');
    await remember('two');
    await remember('three');
    expect(cache.peek('one')).toBeUndefined();
    expect(cache.peek('three')).toBe('admitted');
  });

  it('removes every value of an account and of no other', async () => {
    await remember('one');
    await cache.load('other', 'two', () => Promise.resolve('admitted'));
    await settled();
    cache.invalidate('account');
    expect(cache.peek('one')).toBeUndefined();
    expect(cache.peek('two')).toBe('admitted');
    cache.clear();
    expect(cache.peek('two')).toBeUndefined();
  });
});

function deferred(): { promise: Promise<string>; resolve(value: string): void } {
  let resolve: (value: string) => void = () => undefined;
  const promise = new Promise<string>((done) => (resolve = done));
  return { promise, resolve };
}
