import { ManualClock } from '../../../../test/fixtures/manual-clock.js';
import { EndedSessions } from './ended-sessions.js';

describe(EndedSessions.name, () => {
  it('forgets a session once every token of it has expired', () => {
    const clock = new ManualClock();
    const ended = new EndedSessions(clock);
    ended.add('one');
    clock.nowMs += 1_019_999;
    ended.add('two');
    ended.removeExpired();
    expect([ended.has('one'), ended.size]).toEqual([true, 2]);
    clock.nowMs += 1;
    ended.removeExpired();
    expect([ended.has('one'), ended.has('two'), ended.size]).toEqual([false, true, 1]);
  });
});
