import { inChromium, useChromium } from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { createAccount, open, sees } from '../account-page-acts.js';

const server = await startServer();
afterAll(() => server.stop());
const visit = useChromium();

const DAY_MS = 86_400_000;

/** A zone in which it is six o'clock in the evening: `Etc/GMT-6` is six hours ahead of UTC. */
function eveningZone(): string {
  const hours = ((54 - new Date().getUTCHours()) % 24) - 12;
  return `Etc/GMT${hours < 0 ? '+' : '-'}${Math.abs(hours)}`;
}

inChromium('the account page', () => {
  it('counts the days by the calendar of the person', async () => {
    const visitor = await visit(`${server.url}/app`, { timezoneId: eveningZone() });
    const { page } = visitor;
    await createAccount(visitor);
    const midnight = Number(await page.evaluate('new Date().setHours(0, 0, 0, 0)'));
    // Thirty hours are over, or a little less.
    await page.clock.setFixedTime(midnight + 2 * DAY_MS);
    await open(visitor, 'Devices and sessions');
    await sees(visitor, 'Signed in 2 days ago');
    await page.getByLabel('Language').selectOption('Deutsch');
    await sees(visitor, /vorgestern/);
  });

  it('shows no past time in the future by a clock that is behind', async () => {
    const visitor = await visit(`${server.url}/app`);
    await createAccount(visitor);
    await visitor.page.clock.setFixedTime(Date.now() - 600_000);
    await open(visitor, 'Devices and sessions');
    await sees(visitor, 'Signed in just now');
  });
});
