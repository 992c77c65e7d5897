import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../test/fixtures/manual-timers.js';
import type { Access } from '../auth/auth.service.js';
import { RequestWait } from './request-wait.js';

const ACCESS = { accountId: 'a', sessionId: 's' } as Access;

describe(RequestWait.name, () => {
  const clock = new ManualClock();
  let wait: RequestWait;
  let endedAt: number | null;

  beforeEach(() => {
    wait = new RequestWait(ACCESS, 'r', new ManualTimers(clock));
    endedAt = null;
  });

  const sleep = (ms: number): void => {
    const begun = clock.nowMs;
    void wait.next(ms).then(() => (endedAt = clock.nowMs - begun));
  };

  it('ends at the latest after the given time', async () => {
    sleep(50);
    expect(wait.isSleeping).toBe(true);
    await clock.advance(1000);
    expect([endedAt, wait.isSleeping]).toEqual([50, false]);
  });

  it('ends at a change, and is not woken by the earlier timer afterwards', async () => {
    sleep(50);
    await clock.advance(20);
    wait.wake();
    await clock.advance(0);
    expect(endedAt).toBe(20);
    sleep(500);
    await clock.advance(100);
    expect(wait.isSleeping).toBe(true);
  });

  it('does not miss a change that comes before it sleeps', async () => {
    wait.wake();
    sleep(50);
    await clock.advance(0);
    expect(endedAt).toBe(0);
  });
});
