import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { RefusalLog } from './refusal-log.js';

describe(RefusalLog.name, () => {
  it('logs each reason at once, then once a minute with the number of the others', () => {
    const clock = new ManualClock();
    const reasons: unknown[] = [];
    const log = new RefusalLog(clock, ({ reason }) => reasons.push(reason));
    log.write('one');
    log.write('one');
    log.write('other');
    clock.nowMs += 59_999;
    log.write('one');
    expect(reasons).toEqual(['one', 'other']);
    clock.nowMs += 1;
    log.write('one');
    clock.nowMs += 60_000;
    log.write('one');
    expect(reasons.slice(2)).toEqual(['one; so were 2 since the last message', 'one']);
  });
});
