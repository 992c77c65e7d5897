import { inChromium, useChromium } from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import { createAccount, open, tokenOf } from '../account-page-acts.js';

const server = await startServer();
afterAll(() => server.stop());
const visit = useChromium();

inChromium('the settings on the account page', () => {
  it('shows a change where a read that began before it is answered later', async () => {
    const visitor = await visit(`${server.url}/app`);
    await createAccount(visitor);
    const token = await tokenOf(visitor);
    await open(visitor, 'Notifications');
    const { page } = visitor;
    const control = page.getByRole('switch', { name: 'Send push notifications' });
    await control.waitFor();
    let answer: () => void = () => undefined;
    const held = new Promise<void>((done) => (answer = done));
    let reads = 0;
    await page.route('**/v2/account/settings', async (route) => {
      const isOfRead = route.request().method() === 'GET';
      reads += Number(isOfRead);
      if (isOfRead && reads === 1) {
        const response = await route.fetch();
        await held;
        await route.fulfill({ response });
      } else {
        // The change reads and writes. The reads after it fail.
        await (isOfRead && reads > 2 ? route.abort() : route.continue());
      }
    });
    const now = () => page.evaluate<number>('performance.now()');
    const readsAfter = await now();
    const body = { token: 'ExponentPushToken[abcdefghijklmnop]' };
    await call(server, 'POST', '/v1/push-tokens', { token, body });
    await waitFor('the read', () => Promise.resolve(reads === 1));
    const readsBefore = await now();
    await control.click();
    await waitFor('the change', async () => !(await control.isChecked()));
    answer();
    // The page lists a request once it has the whole answer.
    await waitFor('the late answer', () =>
      page.evaluate<boolean>(`performance.getEntriesByType('resource').some(({ name, startTime }) =>
        name.endsWith('/v2/account/settings') && startTime > ${readsAfter} && startTime < ${readsBefore})`),
    );
    await page.evaluate('new Promise((done) => setTimeout(() => requestAnimationFrame(done)))');
    expect(await control.isChecked()).toBe(false);
  });
});
