import { ManualClock } from '../../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../../test/fixtures/manual-timers.js';
import { AppError } from '../../../common/errors.js';
import { Timers } from '../../../common/runtime/timers.js';
import { resultsOf, runWithin } from './check-result.js';
import { judgeSkew, judgeSpace } from './database-checks.js';

const MEBIBYTE = 1024 * 1024;

describe(runWithin.name, () => {
  it('reports a check that exceeds its time', async () => {
    const clock = new ManualClock();
    const results = runWithin(
      60_000,
      'redis',
      () => new Promise(() => {}),
      new ManualTimers(clock),
    );
    await clock.advance(60_000);
    expect(await results).toEqual([resultsOf('redis').failed('No answer within 60 seconds.')]);
  });

  it('reports the cause of a check that fails', async () => {
    const cause = new Error('permission denied for table account');
    const check = () => Promise.reject(new AppError('unavailable', {}, { cause }));
    expect(await runWithin(60_000, 'database', check, new Timers())).toEqual([
      resultsOf('database').failed('permission denied for table account'),
    ]);
  });
});

describe(judgeSkew.name, () => {
  it.each([
    [2000, 'ok'],
    [2001, 'warning'],
    [30_000, 'warning'],
    [30_001, 'failed'],
  ])('judges a difference of %i ms as %s', (skewMs, status) => {
    expect(judgeSkew(skewMs)).toMatchObject({ check: 'clock', status });
  });
});

describe(judgeSpace.name, () => {
  it.each([
    [512, 'ok'],
    [511, 'warning'],
    [64, 'warning'],
    [63, 'failed'],
  ])('judges %i MiB of free space as %s', (free, status) => {
    expect(judgeSpace(free * MEBIBYTE, 'data')).toMatchObject({ check: 'disk', status });
  });
});
