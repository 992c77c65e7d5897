import { getEventListeners } from 'node:events';
import { onAbort, pause } from './abort.js';

describe(onAbort, () => {
  it('calls every listener that was not removed, with one listener of the signal', () => {
    const abort = new AbortController();
    const called: number[] = [];
    const removals = Array.from({ length: 20 }, (_, at) =>
      onAbort(abort.signal, () => called.push(at)),
    );
    removals.slice(2).forEach((remove) => remove());
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
    abort.abort();
    expect(called).toEqual([0, 1]);
  });

  it('leaves no listener behind, and listens again afterwards', () => {
    const abort = new AbortController();
    const remove = onAbort(abort.signal, () => undefined);
    remove();
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    let isCalled = false;
    onAbort(abort.signal, () => (isCalled = true));
    remove();
    abort.abort();
    expect(isCalled).toBe(true);
  });
});

describe(pause, () => {
  it('returns true after the time, with and without a signal', async () => {
    expect(await pause(1, undefined)).toBe(true);
    expect(await pause(1, new AbortController().signal)).toBe(true);
  });

  it('returns false at the abort, and for a signal that has aborted before', async () => {
    const abort = new AbortController();
    const waits = Array.from({ length: 20 }, () => pause(60_000, abort.signal));
    abort.abort();
    expect(await Promise.all(waits)).toEqual(waits.map(() => false));
    expect(await pause(60_000, abort.signal)).toBe(false);
  });
});
