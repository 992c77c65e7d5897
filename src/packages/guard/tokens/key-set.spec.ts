import type { FlattenedJWSInput, JSONWebKeySet } from 'jose';
import { ManualClock } from '../../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../../test/fixtures/manual-timers.js';
import { makeKey, type TestKey } from '../testing/test-keys.js';
import { KeySet } from './key-set.js';

/** A server of keys that may fail, and that counts the reads. */
class Source {
  keys: TestKey[] = [];
  isAvailable = true;
  reads = 0;

  constructor(private readonly clock: ManualClock) {}

  readonly read = async (): Promise<JSONWebKeySet> => {
    this.reads += 1;
    await Promise.resolve();
    if (!this.isAvailable) {
      throw new Error(`away at ${this.clock.nowMs}`);
    }
    return { keys: this.keys.map(({ publicJwk }) => publicJwk) };
  };
}

let clock: ManualClock;
let source: Source;
let keys: KeySet;
let [one, other]: TestKey[] = [];
beforeAll(async () => {
  [one, other] = [await makeKey('ES256'), await makeKey('ES256')];
});
beforeEach(() => {
  clock = new ManualClock(1_000_000);
  source = new Source(clock);
  source.keys = [one as TestKey];
  keys = new KeySet(source.read, { clock, timers: new ManualTimers(clock) });
});

const find = (key = one): Promise<string> => {
  const header = { alg: 'ES256', kid: key?.kid ?? '' };
  const token: FlattenedJWSInput = { payload: '', signature: '' };
  return keys.find(header, token).then(
    () => 'found',
    (error: Error) => ('code' in error ? String(error.code) : error.message),
  );
};

describe(KeySet.name, () => {
  it('reads the keys once for simultaneous requests', async () => {
    const found = await Promise.all([find(), find(), find()]);
    expect(found).toEqual(['found', 'found', 'found']);
    expect(source.reads).toBe(1);
  });

  it('reads the keys again meanwhile after four minutes, and first after five', async () => {
    await find();
    await clock.advance(239_999);
    expect([await find(), source.reads]).toEqual(['found', 1]);
    source.keys = [other as TestKey];
    await clock.advance(1);
    expect([await find(), source.reads]).toEqual(['found', 2]);
    await clock.turn();
    expect(await find(other)).toBe('found');
    source.keys = [one as TestKey];
    await clock.advance(300_000);
    expect([await find(), source.reads]).toEqual(['found', 3]);
  });

  it('does not find a removed key after five minutes', async () => {
    await find();
    source.keys = [other as TestKey];
    await clock.advance(300_000);
    expect(await find()).toBe('ERR_JWKS_NO_MATCHING_KEY');
  });

  it('uses old keys for five minutes at most while they cannot be read', async () => {
    await find();
    source.isAvailable = false;
    await clock.advance(240_000);
    expect(await find()).toBe('found');
    await clock.advance(59_999);
    expect(await find()).toBe('found');
    await clock.advance(1001);
    expect(await find()).toBe('away at 1301000');
  });

  it('reads the keys for unknown ones once a second, for which their tokens wait', async () => {
    await find();
    source.keys = [one, other] as TestKey[];
    await clock.advance(400);
    const forged = { ...one, kid: 'forged' } as TestKey;
    const found = Promise.all([find(other), find(forged), find(other)]);
    await clock.advance(599);
    expect([await find(), source.reads]).toEqual(['found', 1]);
    await clock.advance(1);
    expect(await found).toEqual(['found', 'ERR_JWKS_NO_MATCHING_KEY', 'found']);
    expect(source.reads).toBe(2);
    await clock.advance(1000);
    expect([await find(forged), source.reads]).toEqual(['ERR_JWKS_NO_MATCHING_KEY', 3]);
  });

  it('reads no keys for a token that names a known one, or none', async () => {
    await find();
    await clock.advance(1000);
    const token: FlattenedJWSInput = { payload: '', signature: '' };
    for (const header of [{ alg: 'RS256', kid: one?.kid as string }, { alg: 'RS256' }]) {
      const found = keys.find(header, token);
      await expect(found).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
    }
    expect(source.reads).toBe(1);
  });

  it('reads no keys for a token that has several', async () => {
    source.keys = [one, { ...other, publicJwk: { ...other?.publicJwk, kid: one?.kid } }] as never;
    await find();
    await clock.advance(10_000);
    expect([await find(), source.reads]).toEqual(['ERR_JWKS_MULTIPLE_MATCHING_KEYS', 1]);
  });

  it('reports a failure for a second without another read', async () => {
    source.isAvailable = false;
    expect([await find(), source.reads]).toEqual(['away at 1000000', 1]);
    await clock.advance(999);
    expect([await find(), source.reads]).toEqual(['away at 1000000', 1]);
    await clock.advance(1);
    expect([await find(), source.reads]).toEqual(['away at 1001000', 2]);
    source.isAvailable = true;
    await clock.advance(1000);
    expect([await find(), source.reads]).toEqual(['found', 3]);
  });
});
