import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../test/fixtures/manual-timers.js';
import { batched } from './batched.js';

const clock = new ManualClock();
const time = { clock, timers: new ManualTimers(clock) };

describe('batched', () => {
  it('answers simultaneous callers with one query, each with its own value', async () => {
    const readings: (readonly number[])[] = [];
    const double = batched(
      time,
      (keys: readonly number[]) => {
        readings.push(keys);
        return Promise.resolve(keys.map((key) => key * 2));
      },
      { maxKeys: 500 },
    );
    const keys = Array.from({ length: 50 }, (_, index) => index);
    const answers = Promise.all(keys.map(double));
    await clock.turn();
    expect(await answers).toEqual(keys.map((key) => key * 2));
    expect(readings).toEqual([keys]);
  });

  it('reads after the call, and never returns an earlier answer', async () => {
    let stored = 1;
    const read = batched(
      time,
      async (keys: readonly string[]) => {
        await time.timers.nextTurn();
        return keys.map(() => stored);
      },
      { maxKeys: 500 },
    );
    const first = read('same');
    await clock.advance(0);
    expect(await first).toBe(1);
    stored = 2;
    const second = read('same');
    await clock.advance(0);
    expect(await second).toBe(2);
  });

  it('reads a bounded number of keys at once, and waits before the next', async () => {
    const startedAt = clock.nowMs;
    const readings: [size: number, at: number][] = [];
    const read = batched(
      time,
      (keys: readonly number[]) => {
        readings.push([keys.length, clock.nowMs - startedAt]);
        return Promise.resolve(keys);
      },
      { everyMs: 5, maxKeys: 20 },
    );
    const answers = Promise.all(Array.from({ length: 50 }, (_, index) => read(index)));
    await clock.advance(10);
    await answers;
    expect(readings).toEqual([
      [20, 0],
      [20, 5],
      [10, 10],
    ]);
  });

  it('reads at once, and collects calls that follow closely', async () => {
    const readings: (readonly string[])[] = [];
    const read = batched(
      time,
      (keys: readonly string[]) => {
        readings.push(keys);
        return Promise.resolve(keys);
      },
      { everyMs: 500, maxKeys: 20 },
    );
    const first = read('first');
    await clock.turn();
    await first;
    const second = read('second');
    await clock.advance(499);
    const third = read('third');
    expect(readings).toEqual([['first']]);
    await clock.advance(1);
    await Promise.all([second, third]);
    expect(readings).toEqual([['first'], ['second', 'third']]);
  });

  it('rejects for every caller when it cannot read', async () => {
    const read = batched(time, (): Promise<number[]> => Promise.reject(new Error('away')), {
      maxKeys: 500,
    });
    const outcomes = Promise.allSettled([read('one'), read('two')]);
    await clock.turn();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
