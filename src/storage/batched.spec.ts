import { setImmediate } from 'node:timers/promises';
import { batched } from './batched.js';

describe('batched', () => {
  it('answers all who ask at the same moment by one reading, each with its own', async () => {
    const readings: (readonly number[])[] = [];
    const double = batched(
      (keys: readonly number[]) => {
        readings.push(keys);
        return Promise.resolve(keys.map((key) => key * 2));
      },
      { maxKeys: 500 },
    );
    const asked = Array.from({ length: 50 }, (_, index) => index);
    await expect(Promise.all(asked.map(double))).resolves.toEqual(asked.map((key) => key * 2));
    expect(readings).toEqual([asked]);
  });

  it('reads after the call, never what an earlier call was answered', async () => {
    let stored = 1;
    const read = batched(
      async (keys: readonly string[]) => {
        await setImmediate();
        return keys.map(() => stored);
      },
      { maxKeys: 500 },
    );
    await expect(read('same')).resolves.toBe(1);
    stored = 2;
    await expect(read('same')).resolves.toBe(2);
  });

  it('reads no more keys at once than it may', async () => {
    const sizes: number[] = [];
    const read = batched(
      (keys: readonly number[]) => {
        sizes.push(keys.length);
        return Promise.resolve(keys);
      },
      { everyMs: 5, maxKeys: 20 },
    );
    await Promise.all(Array.from({ length: 50 }, (_, index) => read(index)));
    expect(sizes).toEqual([20, 20, 10]);
  });

  it('reads at once, and what follows closely together', async () => {
    const readings: (readonly string[])[] = [];
    const read = batched(
      (keys: readonly string[]) => {
        readings.push(keys);
        return Promise.resolve(keys);
      },
      { everyMs: 500, maxKeys: 20 },
    );
    await read('first');
    const second = read('second');
    await setImmediate();
    await Promise.all([second, read('third')]);
    expect(readings).toEqual([['first'], ['second', 'third']]);
  });

  it('rejects for every caller when it cannot read', async () => {
    const read = batched((): Promise<number[]> => Promise.reject(new Error('away')), {
      maxKeys: 500,
    });
    const outcomes = await Promise.allSettled([read('one'), read('two')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
