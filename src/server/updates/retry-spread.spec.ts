import { RetrySpread } from './retry-spread.js';

const refusedAtOnce = (spread: RetrySpread, clients: number, nowMs = 0): number[] =>
  Array.from({ length: clients }, (_, index) => spread.next(nowMs, (index * 0.618) % 1));

describe(RetrySpread.name, () => {
  it('makes a few clients return after a second or two', () => {
    const seconds = refusedAtOnce(new RetrySpread(), 100);
    expect(Math.min(...seconds)).toBe(1);
    expect(Math.max(...seconds)).toBe(2);
  });

  it('spreads thousands evenly over a bounded range', () => {
    const seconds = refusedAtOnce(new RetrySpread(), 20_000);
    expect(Math.max(...seconds)).toBe(15);
    const returning = new Map<number, number>();
    seconds.forEach((second) => returning.set(second, (returning.get(second) ?? 0) + 1));
    expect(returning.size).toBe(15);
    expect(Math.max(...returning.values())).toBeLessThan(3000);
  });

  it('forgets clients that are back by then', () => {
    const spread = new RetrySpread();
    refusedAtOnce(spread, 20_000);
    expect(spread.next(5000, 1)).toBe(15);
    expect(spread.next(25_000, 1)).toBe(2);
  });
});
