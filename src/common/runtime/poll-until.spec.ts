import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../test/fixtures/manual-timers.js';
import { pollUntil } from './poll-until.js';

describe(pollUntil.name, () => {
  it.each([
    ['when the condition holds', 100, Infinity, 100],
    ['at its limit', Infinity, 60, 60],
  ])('ends %s', async (_case, doneAt, limitMs, expected) => {
    const clock = new ManualClock();
    let endedAt: number | null = null;
    const ended = pollUntil(new ManualTimers(clock), () => clock.nowMs >= doneAt, limitMs);
    void ended.then(() => (endedAt = clock.nowMs));
    await clock.advance(1000);
    expect(endedAt).toBe(expected);
  });
});
