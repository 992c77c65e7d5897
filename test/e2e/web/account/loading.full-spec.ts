import type { Route } from 'playwright-core';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import {
  BLOCKED_STORAGE,
  createAccount,
  open,
  sees,
  seesAccount,
  seesSignIn,
} from '../account-page-acts.js';
import { waitFor } from '../../../helpers/wait.js';

const server = await startServer();
afterAll(() => server.stop());
const visit = useChromium();

/** Holds a file of the page back. @returns a function that lets it go, and waits until the page has run it */
async function hold({ page }: Visitor, file: RegExp): Promise<() => Promise<void>> {
  let letGo: () => void = () => undefined;
  const gate = new Promise<void>((done) => (letGo = done));
  await page.route(file, async (route) => {
    await gate;
    await route.continue();
  });
  const requested = page.waitForRequest(file);
  return async () => {
    const url = (await requested).url();
    letGo();
    // It is the same module, so the page has it before this import has it.
    await page.evaluate(`import(${JSON.stringify(url)}).then(() => undefined)`);
  };
}

inChromium('the sign-in', () => {
  it('offers nothing to click before the form above it is there', async () => {
    const visitor = await visit('about:blank');
    const { page } = visitor;
    const release = await hold(visitor, /\/assets\/key-forms-[^/]{8}\.js$/);
    const features = page.waitForResponse('**/v1/features');
    await page.goto(`${server.url}/app`, { waitUntil: 'commit' });
    await (await features).finished();
    // Long enough to show what the answer offers.
    await page.waitForTimeout(300);
    const create = page.getByRole('button', { name: 'Create an account' });
    expect(await create.count()).toBe(0);
    await release();
    await create.waitFor();
    expect(await page.getByLabel('Device key', { exact: true }).count()).toBe(1);
  });
});

inChromium('the sections of the account page, on a phone', () => {
  it('offers all together, once the account says which there are', async () => {
    const visitor = await visit(`${server.url}/app`, { viewport: { width: 360, height: 640 } });
    const { page } = visitor;
    await createAccount(visitor);
    let answer: () => void = () => undefined;
    const held = new Promise<void>((done) => (answer = done));
    await page.route('**/v1/account/profile', async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    const links = page.getByRole('navigation', { name: 'Account' }).getByRole('link');
    expect(await links.count()).toBe(0);
    answer();
    await links.first().waitFor();
    expect(await links.allInnerTexts()).toEqual([
      ...['Overview', 'Devices and sessions', 'Notifications', 'Security', 'Requests'],
    ]);
  });
});

inChromium('the account page in a browser without storage', () => {
  it('says that the browser blocks the storage of the page', async () => {
    const blocked = await visit('about:blank', {});
    await blocked.page.addInitScript(BLOCKED_STORAGE);
    await blocked.page.goto(`${server.url}/app`);
    await sees(blocked, 'Allow cookies and site data for this address');
    await blocked.page.getByLabel('Language').selectOption('Deutsch');
    await sees(blocked, 'Erlauben Sie für diese Adresse Cookies');
  });
});

inChromium('the language of the account page', () => {
  const GERMAN = /\/assets\/de-[^/]{8}\.js$/;

  let visitor: Visitor;
  beforeEach(async () => {
    visitor = await visit(`${server.url}/app`);
  });

  const choose = (label: string, name: string) => visitor.page.getByLabel(label).selectOption(name);

  it('is the one that was chosen last, even when an earlier one loads later', async () => {
    const release = await hold(visitor, GERMAN);
    await choose('Language', 'Deutsch');
    await choose('Language', 'English');
    await release();
    await createAccount(visitor);
    const { page } = visitor;
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    expect(await page.getByLabel('Language').inputValue()).toBe('en');
    await page.reload();
    await seesAccount(visitor);
  });

  it('is the same for a section that opens while it changes', async () => {
    await createAccount(visitor);
    const release = await hold(visitor, GERMAN);
    await choose('Language', 'Deutsch');
    await open(visitor, 'Security');
    await sees(visitor, 'Key on this device');
    await release();
    await sees(visitor, 'Sicherheit');
    await sees(visitor, 'Schlüssel auf diesem Gerät');
  });

  it('can be chosen again after the texts of one section could not be loaded', async () => {
    const { page } = visitor;
    const texts = /\/assets\/de-requests-[^/]{8}\.js$/;
    await createAccount(visitor);
    await choose('Language', 'Deutsch');
    await sees(visitor, 'Übersicht');
    await page.route(texts, (route) => route.abort());
    const failed = page.waitForEvent('requestfailed', (request) => texts.test(request.url()));
    await page.getByRole('link', { name: /^Anfragen/ }).click();
    await failed;
    await choose('Sprache', 'English');
    await sees(visitor, 'Overview');
    await choose('Language', 'Deutsch');
    await sees(visitor, 'Übersicht');
  });
});

/** Answers as a proxy does whose server is away. */
const unavailable = (route: Route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' });

inChromium('the account page, after an outage', () => {
  let visitor: Visitor;

  beforeEach(async () => {
    visitor = await visit('about:blank');
  });

  const says = (words: string) => sees(visitor, words);
  const seesNoMore = (words: string) =>
    waitFor(`no ${words}`, async () => !(await visitor.text()).includes(words));

  it('shows the ways to sign in as soon as the server answers', async () => {
    await visitor.page.route('**/v1/features', (route) => route.abort());
    await visitor.page.goto(`${server.url}/app`);
    await says('The server does not answer.');
    await visitor.page.unroute('**/v1/features');
    await seesSignIn(visitor);
    await seesNoMore('The server does not answer.');
  });

  it('loads the account again, and clears the notice', async () => {
    await visitor.page.goto(`${server.url}/app`);
    await createAccount(visitor);
    await visitor.page.route('**/v1/account/profile', unavailable);
    await visitor.page.reload();
    await says('The server cannot answer this right now.');
    await visitor.page.unroute('**/v1/account/profile');
    await says('Account ID');
    await seesAccount(visitor);
    await seesNoMore('The server cannot answer this right now.');
  });

  it('loads a part of the page again that failed with the network', async () => {
    const { page } = visitor;
    const file = /\/assets\/key-forms-[^/]{8}\.js$/;
    await page.route(file, (route) => route.abort('internetdisconnected'));
    const failed = page.waitForEvent('requestfailed', (request) => file.test(request.url()));
    await page.goto(`${server.url}/app`);
    await failed;
    await says('The server does not answer.');
    await page.unroute(file);
    await page.getByLabel('Device key', { exact: true }).waitFor();
    await seesNoMore('The server does not answer.');
  });

  it('opens the settings with the key that the tab has', async () => {
    await visitor.page.goto(`${server.url}/app`);
    await createAccount(visitor);
    await visitor.page.route('**/v2/account/settings', unavailable);
    await open(visitor, 'Notifications');
    await says('The server cannot answer this right now.');
    await visitor.page.unroute('**/v2/account/settings');
    await says('Push notifications');
    await seesNoMore('The server cannot answer this right now.');
  });

  it('asks to wait only until the wait is over', async () => {
    // A context of its own: its clock stays set.
    visitor = await visit('about:blank', {});
    await visitor.page.clock.install();
    await visitor.page.goto(`${server.url}/app`);
    await visitor.page.route('**/v1/auth/challenge', (route) =>
      route.fulfill({
        status: 429,
        json: { statusCode: 429, code: 'rate-limited', message: 'Busy.', retryAfterSeconds: 3600 },
      }),
    );
    await visitor.page.getByLabel('Device key', { exact: true }).fill('A'.repeat(43));
    await visitor.press('Sign in');
    await says('Too many requests. Try again in 3,600 seconds.');
    await visitor.page.clock.fastForward('01:00:00');
    await seesNoMore('Try again in');
    await says('Too many requests.');
  });
});
