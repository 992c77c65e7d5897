import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../test/fixtures/manual-timers.js';
import type { RecheckOutcome } from './account-recheck.service.js';
import type { LeasedIdentity } from '../storage/repositories/identity-due.repository.js';
import { leaseMsFor, ProviderQueue } from './provider-queue.js';

let clock: ManualClock;
let timers: ManualTimers;

beforeEach(() => {
  clock = new ManualClock(1_000_000);
  timers = new ManualTimers(clock);
});

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
    { clock, timers },
  );
  return { queue, due, leases, stop };
}

/** Moves the clock until a drain has ended. */
async function ended(drain: Promise<void>): Promise<void> {
  await Promise.all([drain, clock.advance(60_000)]);
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
      await timers.sleep(1);
      active -= 1;
      return { kind: 'eligible' };
    });
    await ended(queue.drain());
    expect(seen).toHaveLength(173);
    expect(new Set(seen).size).toBe(173);
    expect(most).toBe(4);
    expect(leases).toEqual([50, 50, 50, 23]);
  });

  it('reads the due identities again when called while a check hangs', async () => {
    let finish = (): void => undefined;
    const hanging = new Promise<void>((done) => (finish = done));
    const seen: string[] = [];
    const { queue, due } = queueOver(1, async ({ id }) => {
      seen.push(id);
      await (id === 'identity-0' ? hanging : undefined);
      return { kind: 'eligible' };
    });
    const first = queue.drain();
    await clock.advance(5);
    due.push(identity(1));
    const second = queue.drain();
    await clock.advance(5);
    expect(seen).toEqual(['identity-0', 'identity-1']);
    finish();
    await Promise.all([first, second]);
  });

  it('pauses when the provider requests it repeatedly, and releases the rest', async () => {
    let checks = 0;
    const { queue, due } = queueOver(200, () => {
      checks += 1;
      return Promise.resolve({ kind: 'unknown', retryAfterMs: 60_000 });
    });
    await queue.drain();
    expect(checks).toBeLessThan(10);
    expect(due).toHaveLength(200 - checks);
    await clock.advance(14_999);
    await queue.drain();
    expect(due).toHaveLength(200 - checks);
    const before = checks;
    await clock.advance(1);
    await queue.drain();
    expect(checks).toBeGreaterThan(before);
  });

  it('continues when single answers are missing', async () => {
    let checks = 0;
    const { queue } = queueOver(60, () => {
      checks += 1;
      return Promise.resolve({ kind: 'unknown' });
    });
    await queue.drain();
    expect(checks).toBe(60);
  });

  it('stops when results cannot be stored, and releases the rest', async () => {
    let checks = 0;
    const { queue, due } = queueOver(200, () => {
      checks += 1;
      return Promise.reject(new Error('storage is away'));
    });
    await expect(queue.drain()).rejects.toThrow('storage is away');
    expect(checks).toBeLessThanOrEqual(4);
    expect(due).toHaveLength(200 - checks);
  });

  it('releases pending checks when it is stopped', async () => {
    const { queue, due, stop } = queueOver(200, async () => {
      await timers.sleep(1);
      stop.abort();
      return { kind: 'eligible' };
    });
    await ended(queue.drain());
    expect(due).toHaveLength(196);
  });

  it('aborts running checks when it is stopped', async () => {
    const { queue, stop } = queueOver(1, async (_one, signal) => {
      const aborted = new Promise((done) => signal.addEventListener('abort', done));
      stop.abort();
      await aborted;
      return { kind: 'unknown' };
    });
    await queue.drain();
    expect(stop.signal.aborted).toBe(true);
  });

  it('aborts a check that takes too long', async () => {
    let abortedAt: number | null = null;
    const startedAt = clock.nowMs;
    const { queue } = queueOver(1, async (_one, signal) => {
      await new Promise((done) => signal.addEventListener('abort', done));
      abortedAt = clock.nowMs - startedAt;
      return { kind: 'unknown' };
    });
    const drained = queue.drain();
    await clock.advance(150_000);
    await drained;
    expect(abortedAt).toBe(140_000);
  });

  it('begins no check before the identity is due, and delays no due one for it', async () => {
    const startedAt = clock.nowMs;
    const starts: [id: string, at: number][] = [];
    const { queue, due } = queueOver(3, ({ id }) => {
      starts.push([id, clock.nowMs - startedAt]);
      return Promise.resolve({ kind: 'eligible' });
    });
    due[0] = { ...identity(0), dueInMs: 80 };
    due[1] = { ...identity(1), dueInMs: 40 };
    await ended(queue.drain());
    expect(starts).toEqual([
      ['identity-2', 0],
      ['identity-1', 40],
      ['identity-0', 80],
    ]);
  });

  it('releases delayed checks when it is stopped', async () => {
    const { queue, due, stop } = queueOver(1, () => Promise.resolve({ kind: 'eligible' }));
    due[0] = { ...identity(0), dueInMs: 3_600_000 };
    const drained = queue.drain();
    await clock.advance(1000);
    stop.abort();
    await drained;
    expect(due).toHaveLength(1);
  });

  it('begins no more checks per second than the limit of the provider', async () => {
    const startedAt = clock.nowMs;
    const starts: number[] = [];
    const { queue } = queueOver(
      8,
      () => {
        starts.push(clock.nowMs - startedAt);
        return Promise.resolve({ kind: 'eligible' });
      },
      { concurrency: 8, checksPerSecond: 100 },
    );
    await ended(queue.drain());
    expect(starts).toEqual([0, 10, 20, 30, 40, 50, 60, 70]);
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
