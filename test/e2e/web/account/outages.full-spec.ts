import type { Route } from 'playwright-core';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../../helpers/wait.js';
import {
  createAccount,
  open,
  seesAccount,
  seesSignIn,
  sees as seesIn,
} from '../account-page-acts.js';

const server = await startServer();
afterAll(() => server.stop());
const visit = useChromium();

/** Answers as a proxy does whose server is away. */
const unavailable = (route: Route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' });

inChromium('the account page, after an outage', () => {
  let visitor: Visitor;

  beforeEach(async () => {
    visitor = await visit('about:blank');
  });

  const sees = (words: string) => seesIn(visitor, words);
  const seesNoMore = (words: string) =>
    waitFor(`no ${words}`, async () => !(await visitor.text()).includes(words));

  it('shows the ways to sign in as soon as the server answers', async () => {
    await visitor.page.route('**/v1/features', (route) => route.abort());
    await visitor.page.goto(`${server.url}/app`);
    await sees('The server does not answer.');
    await visitor.page.unroute('**/v1/features');
    await seesSignIn(visitor);
    await seesNoMore('The server does not answer.');
  });

  it('loads the account again, and clears the notice', async () => {
    await visitor.page.goto(`${server.url}/app`);
    await createAccount(visitor);
    await visitor.page.route('**/v1/account/profile', unavailable);
    await visitor.page.reload();
    await sees('The server cannot answer this right now.');
    await visitor.page.unroute('**/v1/account/profile');
    await sees('Account ID');
    await seesAccount(visitor);
    await seesNoMore('The server cannot answer this right now.');
  });

  it('opens the settings with the key that the tab has', async () => {
    await visitor.page.goto(`${server.url}/app`);
    await createAccount(visitor);
    await visitor.page.route('**/v2/account/settings', unavailable);
    await open(visitor, 'Notifications');
    await sees('The server cannot answer this right now.');
    await visitor.page.unroute('**/v2/account/settings');
    await sees('Push notifications');
    await seesNoMore('The server cannot answer this right now.');
  });

  it('asks to wait only until the wait is over', async () => {
    await visitor.page.goto(`${server.url}/app`);
    await visitor.page.route('**/v1/auth/challenge', (route) =>
      route.fulfill({
        status: 429,
        json: { statusCode: 429, code: 'rate-limited', message: 'Busy.', retryAfterSeconds: 2 },
      }),
    );
    await visitor.page.getByLabel('Device key', { exact: true }).fill('A'.repeat(43));
    await visitor.press('Sign in');
    await sees('Too many requests. Try again in 2 seconds.');
    await seesNoMore('Try again in');
    await sees('Too many requests.');
  });
});
