import type { Browser } from 'playwright-core';
import { hasChromium, startChromium, visit, type Visitor } from '../helpers/chromium.js';
import { IS_POSTGRES, type Server } from '../helpers/server.js';
import { waitFor } from '../helpers/wait.js';
import { sees } from './account-page-acts.js';
import {
  findAccount,
  openConsole,
  openSection,
  seesTitle,
  signInWith,
} from './admin-console-acts.js';
import { AdminCalls, AdminTokensFile, adminUrlOf } from './admin-world.js';
import { OffboardingWorld } from './offboarding-world.js';
import { PageLooks } from './page-looks.js';

const PEOPLE = [
  'ada.lovelace',
  'alan.turing',
  'edsger.dijkstra',
  'grace.hopper',
  'katherine.johnson',
];

const inBrowser = IS_POSTGRES && hasChromium() ? describe : describe.skip;
inBrowser('every page of the console (needs PostgreSQL, Redis and Chromium)', () => {
  let world: OffboardingWorld;
  let tokens: AdminTokensFile;
  let server: Server;
  let browser: Browser;
  let url: string;
  let looks: PageLooks;
  let visitor: Visitor;
  let accountId: string;

  beforeAll(async () => {
    [world, tokens, looks, browser] = await Promise.all([
      OffboardingWorld.open(),
      AdminTokensFile.create(),
      PageLooks.open('admin-console'),
      startChromium(),
    ]);
    server = await world.start({ ...tokens.env, AUTH_OFFBOARDING_ENABLED: 'true' });
    url = await adminUrlOf(server);
    accountId = await populate();
  });
  afterAll(async () => {
    await browser.close();
    await world.close();
    await tokens.remove();
  });
  afterEach(async () => {
    const { browserErrors } = visitor;
    await visitor.close();
    expect(browserErrors).toEqual([]);
  });

  /** A company: people with sessions, one who is refused, one who is disabled, and a check that waits. */
  async function populate(): Promise<string> {
    const operator = new AdminCalls(url, tokens.operator);
    const checked = await world.person(server);
    await operator.act(checked.accountId, 'recheck', 'moved to another team');
    await world.until('its check', () => (world.provider.checks.get(checked.sub) ?? 0) > 0);
    await operator.remove(checked.accountId);
    const ids: string[] = [];
    for (const login of PEOPLE) {
      const person = await world.person(server);
      const facts = {
        ...{ login, email: `${login}@example.com`, emailVerified: true },
        ...{ groups: ['staff'], memberships: {} },
      };
      const statement = 'UPDATE identity SET login = $2, facts = $3 WHERE account_id = $1';
      await world.sql.query(statement, [person.accountId, login, facts]);
      ids.push(person.accountId);
    }
    const [first = '', second = '', third = '', fourth = ''] = ids;
    await operator.act(second, 'disable', 'left the company');
    await operator.act(fourth, 'disable', 'by mistake');
    await operator.act(fourth, 'enable', 'was a mistake');
    await world.sql.query(
      `UPDATE identity SET eligibility_status = 'ineligible', eligibility_reason = 'not_in_group',
         lease_until = now() + interval '1 hour', eligibility_next_check_at = now() - interval '2 hours'
       WHERE account_id = $1`,
      [third],
    );
    await world.sql.query(
      `UPDATE session SET client_name = 'Firefox on Linux', client_platform = 'web', address = '192.0.2.7',
         created_at = now() - interval '3 days', last_seen_at = now() - interval '10 minutes'`,
    );
    return first;
  }

  it('of the sign-in', async () => {
    visitor = await visit(browser, url, { reducedMotion: 'reduce' });
    await seesTitle(visitor, 'Administration');
    await signInWith(visitor, 'wrong');
    await sees(visitor, 'The server does not know this token.');
    await looks.check(visitor, 'sign-in');
  });

  it('of what an administrator sees', async () => {
    visitor = await openConsole(browser, url, tokens.operator);
    await sees(visitor, 'All accounts');
    await looks.check(visitor, 'overview');
    await openSection(visitor, 'Accounts');
    await sees(visitor, 'grace.hopper@example.com');
    await looks.check(visitor, 'accounts');
    await findAccount(visitor, 'ada', 'ada.lovelace@example.com');
    await sees(visitor, 'Firefox on Linux');
    await looks.check(visitor, 'account');
    await visitor.press('Disable…');
    await looks.check(visitor, 'disable');
    await visitor.press('Cancel');
    await openSection(visitor, 'Invitations');
    await sees(visitor, 'AUTH_SIGNUP_INVITATIONS_ENABLED=true');
    expect(await visitor.page.getByRole('button', { name: /invitation/i }).count()).toBe(0);
    await looks.check(visitor, 'invitations-off');
    await openSection(visitor, 'Audit trail');
    await sees(visitor, 'left the company');
    await looks.check(visitor, 'audit');
    await openSection(visitor, 'Policy');
    await visitor.page.getByLabel('Changed variables').fill('AUTH_REQUIRED_LOGIN_PROVIDERS=guild');
    await visitor.press('See what would change');
    await sees(visitor, 'Would lose access');
    await looks.check(visitor, 'policy');
  });

  it('of what a reader sees, in German', async () => {
    visitor = await openConsole(browser, url, tokens.reader);
    const { page } = visitor;
    await page.getByLabel('Language').selectOption('Deutsch');
    await seesTitle(visitor, 'Übersicht');
    await looks.check(visitor, 'overview-de');
    await page.goto(`${url}/admin/#accounts/${accountId}`);
    await sees(visitor, 'Dieses Konto ist zugelassen');
    await looks.check(visitor, 'account-de');
    await page.goto(`${url}/admin/#audit`);
    await seesTitle(visitor, 'Protokoll');
    await page.getByRole('cell', { name: 'Konto gesperrt' }).first().waitFor();
  });

  it('reads nothing while it is hidden, and says when what it shows is old', async () => {
    // The clock is one for all that its context shows, now and later.
    visitor = await visit(browser, url, { reducedMotion: 'reduce' });
    await signInWith(visitor, tokens.reader);
    await seesTitle(visitor, 'Overview');
    const { page } = visitor;
    const turn = (visibility: string) =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', {
        value: '${visibility}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`);
    const isMarked = (text: string) => page.getByText(text, { exact: true }).waitFor();
    let requests = 0;
    page.on('request', (request) => (requests += request.url().includes('/admin/v1/') ? 1 : 0));
    await page.clock.install();
    for (const section of ['Accounts', 'Invitations', 'Audit trail', 'Policy'] as const) {
      await openSection(visitor, section);
      await page.reload();
      await isMarked('Live');
      await turn('hidden');
      await page.waitForLoadState('networkidle');
      requests = 0;
      await page.clock.runFor(60_000);
      expect(requests).toBe(0);
      await page.route('**/admin/v1/**', (route) => route.abort());
      await turn('visible');
      await sees(visitor, 'The server does not answer.');
      await isMarked('Not up to date');
      await page.unroute('**/admin/v1/**');
      await page.clock.runFor(6_000);
      await isMarked('Live');
      expect(requests).toBeGreaterThan(1);
    }
    await page.route('**/admin/v1/**', () => undefined);
    await page.clock.runFor(16_000);
    await isMarked('Not up to date');
  });

  it('can be used with the keyboard alone', async () => {
    visitor = await openConsole(browser, url, tokens.operator);
    const { page } = visitor;
    await page.getByLabel('Language').focus();
    const focused = () => page.evaluate<string>('document.activeElement?.textContent ?? ""');
    for (let step = 0; step < 20 && !(await focused()).includes('Accounts'); step += 1) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await seesTitle(visitor, 'Accounts');
    await waitFor('focus on the title', async () => (await focused()) === 'Accounts');
    await page.keyboard.press('Tab');
    await page.keyboard.type('grace');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'grace.hopper@example.com' }).waitFor();
    await page.getByRole('link', { name: 'grace.hopper@example.com' }).focus();
    await page.keyboard.press('Enter');
    await seesTitle(visitor, 'grace.hopper@example.com');
    await page.getByRole('button', { name: 'Disable…' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('dialog[open] input:focus').waitFor();
    await page.keyboard.type('typed without a mouse');
    expect(await page.getByRole('dialog').getByLabel('Reason').inputValue()).toBe(
      'typed without a mouse',
    );
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await waitFor('focus back', async () => (await focused()) === 'Disable…');
  });
});
