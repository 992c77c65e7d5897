import { setTimeout as sleep } from 'node:timers/promises';
import type { RecheckOutcome } from './account-recheck.js';
import type { LeasedIdentity } from '../storage/repositories/identity-due.repository.js';
import { leaseMsFor, ProviderQueue } from './provider-queue.js';

function identity(id: number): LeasedIdentity {
  return {
    id: `identity-${id}`,
    accountId: `account-${id}`,
    provider: 'okta',
    subject: `${id}`,
    issuer: null,
    login: null,
    record: { status: 'eligible', reason: null, checkedAt: 0, failures: 0 },
    dueAt: 0,
    dueInMs: 0,
    credentials: null,
    facts: null,
    certificate: null,
    leaseUntil: new Date(0),
  };
}

/** A queue over `due` identities; `released` ones are due again. */
function queueOver(
  count: number,
  recheck: (one: LeasedIdentity, signal: AbortSignal) => Promise<RecheckOutcome>,
  limits = { concurrency: 4, checksPerSecond: 0 },
) {
  const due = Array.from({ length: count }, (_, index) => identity(index));
  const stop = new AbortController();
  const leases: number[] = [];
  const queue = new ProviderQueue(
    {
      lease: (limit) => {
        const taken = due.splice(0, limit);
        leases.push(taken.length);
        return Promise.resolve(taken);
      },
      release: (given) => {
        due.push(...given);
        return Promise.resolve();
      },
      recheck,
    },
    limits,
    stop.signal,
  );
  return { queue, due, leases, stop };
}

describe(ProviderQueue, () => {
  it('checks each identity once, never more than the concurrency at a time', async () => {
    let active = 0;
    let most = 0;
    const seen: string[] = [];
    const { queue, leases } = queueOver(173, async ({ id }) => {
      seen.push(id);
      active += 1;
      most = Math.max(most, active);
      await sleep(1);
      active -= 1;
      return { kind: 'eligible' };
    });
    await queue.drain();
    expect(seen).toHaveLength(173);
    expect(new Set(seen).size).toBe(173);
    expect(most).toBe(4);
    expect(leases).toEqual([50, 50, 50, 23]);
  });

  it('looks again at once when called while a check hangs', async () => {
    let finish = (): void => undefined;
    const hanging = new Promise<void>((done) => (finish = done));
    const seen: string[] = [];
    const { queue, due } = queueOver(1, async ({ id }) => {
      seen.push(id);
      await (id === 'identity-0' ? hanging : undefined);
      return { kind: 'eligible' };
    });
    const first = queue.drain();
    await sleep(5);
    due.push(identity(1));
    const second = queue.drain();
    await sleep(5);
    expect(seen).toEqual(['identity-0', 'identity-1']);
    finish();
    await Promise.all([first, second]);
  });

  it('pauses when the provider asks again and again to be left alone, and gives back the rest', async () => {
    let asked = 0;
    const { queue, due } = queueOver(200, () => {
      asked += 1;
      return Promise.resolve({ kind: 'unknown', retryAfterMs: 60_000 });
    });
    await queue.drain();
    expect(asked).toBeLessThan(10);
    expect(due).toHaveLength(200 - asked);
    await queue.drain();
    expect(due).toHaveLength(200 - asked);
  });

  it('goes on where single answers are missing', async () => {
    let asked = 0;
    const { queue } = queueOver(60, () => {
      asked += 1;
      return Promise.resolve({ kind: 'unknown' });
    });
    await queue.drain();
    expect(asked).toBe(60);
  });

  it('stops asking when results cannot be kept, and gives back the rest', async () => {
    let asked = 0;
    const { queue, due } = queueOver(200, () => {
      asked += 1;
      return Promise.reject(new Error('storage is away'));
    });
    await expect(queue.drain()).rejects.toThrow('storage is away');
    expect(asked).toBeLessThanOrEqual(4);
    expect(due).toHaveLength(200 - asked);
  });

  it('gives back what it has not begun when it is stopped', async () => {
    const { queue, due, stop } = queueOver(200, async () => {
      await sleep(1);
      stop.abort();
      return { kind: 'eligible' };
    });
    await queue.drain();
    expect(due).toHaveLength(196);
  });

  it('aborts checks under way when it is stopped', async () => {
    const { queue, stop } = queueOver(1, async (_one, signal) => {
      const aborted = new Promise((done) => signal.addEventListener('abort', done));
      stop.abort();
      await aborted;
      return { kind: 'unknown' };
    });
    await queue.drain();
    expect(stop.signal.aborted).toBe(true);
  });

  it('begins no check before the identity is due, and no due one later for it', async () => {
    const begun: [id: string, at: number][] = [];
    const { queue, due } = queueOver(3, ({ id }) => {
      begun.push([id, performance.now()]);
      return Promise.resolve({ kind: 'eligible' });
    });
    due[0] = { ...identity(0), dueInMs: 80 };
    due[1] = { ...identity(1), dueInMs: 40 };
    const startedAt = performance.now();
    await queue.drain();
    expect(begun.map(([id]) => id)).toEqual(['identity-2', 'identity-1', 'identity-0']);
    const waits = begun.map(([, at]) => at - startedAt);
    // A timer may fire a millisecond early.
    expect(waits[1]).toBeGreaterThan(38);
    expect(waits[2]).toBeGreaterThan(78);
  });

  it('gives back what waits for its time when it is stopped', async () => {
    const { queue, due, stop } = queueOver(1, () => Promise.resolve({ kind: 'eligible' }));
    due[0] = { ...identity(0), dueInMs: 3_600_000 };
    const drained = queue.drain();
    setImmediate(() => stop.abort());
    await drained;
    expect(due).toHaveLength(1);
  });

  it('begins no more checks a second than the provider is to be asked', async () => {
    let lastBegunAt = 0;
    const { queue } = queueOver(
      8,
      () => {
        lastBegunAt = performance.now();
        return Promise.resolve({ kind: 'eligible' });
      },
      { concurrency: 8, checksPerSecond: 100 },
    );
    const startedAt = performance.now();
    await queue.drain();
    // From before the first turn: that one may begin late, and the others do not wait for it.
    expect(lastBegunAt - startedAt).toBeGreaterThan(60);
  });
});

describe(leaseMsFor.name, () => {
  it.each([
    [0, 180_000],
    [30, 180_000],
    [120, 280_000],
  ])('outlives a check whose requests take %d s each: %d ms', (seconds, expected) => {
    expect(leaseMsFor(seconds)).toBe(expected);
  });
});
