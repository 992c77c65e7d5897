import { DrainEvents } from './drain.events.js';

describe(DrainEvents.name, () => {
  it('shortens waits that begin during the drain, and does not end them at once', () => {
    const drain = new DrainEvents();
    expect(drain.limit(50_000)).toBe(50_000);
    drain.begin();
    expect(drain.signal.aborted).toBe(true);
    expect([drain.limit(50_000), drain.limit(10)]).toEqual([1000, 10]);
  });
});
