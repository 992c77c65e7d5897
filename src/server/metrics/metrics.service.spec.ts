import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../test/fixtures/manual-timers.js';
import { MetricsService } from './metrics.service.js';

/** The time that the chart gives a scrape. */
const SCRAPE_MS = 10_000;

describe(MetricsService.name, () => {
  it('serves the other gauges while some have no answer, and once one fails', async () => {
    const clock = new ManualClock();
    const metrics = new MetricsService(new ManualTimers(clock));
    const hang = (): Promise<never> => new Promise(() => undefined);
    metrics.ask('hanging', 'Never answered.', hang);
    metrics.observeEach('hanging_each', 'Never answered.', ['provider'], hang);
    metrics.observeEach('failing_each', 'Refused.', ['provider'], () =>
      Promise.reject(new Error()),
    );
    metrics.observeEach('known', 'Answered.', ['provider'], () => [{ provider: 'a', value: 2 }]);
    const page = metrics.registry.metrics();
    await clock.advance(SCRAPE_MS);
    const lines = (await page).split('\n').filter((line) => !/^(#|gatehouse_|$)/.test(line));
    expect(lines).toEqual(['hanging Nan', 'known{provider="a"} 2']);
  });
});
