import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { startLocalServer, type LocalServer } from '../../../helpers/local-server.js';
import {
  inChromium,
  useChromium,
  visitIn,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { createCliUser } from '../../../fixtures/programs/cli-fixture.js';
import { call, type Json } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import { freePort } from '../../../fixtures/programs/service-process.js';
import { sees } from '../account-page-acts.js';
import {
  act,
  findAccount,
  openConsole,
  openSection,
  seesTitle,
  signInWith,
} from '../admin-console-acts.js';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../../fixtures/admin-fixture.js';
import { OffboardingFixture } from '../../../fixtures/offboarding-fixture.js';

const ASSETS = join(import.meta.dirname, '../../../../dist/web/admin/assets');
/** The gzipped size of all files that the console loads, in both languages. */
const MAX_BYTES = 80_000;
/** Until the cache expires, only a message between replicas ends a connection of the other one. */
const ENV = { AUTH_ACCESS_CACHE_SECONDS: '60', SERVICE_PUBLIC_URL: '' };
const NAME = 'alice@example.com';

const [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
const port = await freePort();
const consoleUrl = `http://console.example:${port}`;
const first = await fixture.start({
  ...ENV,
  ...tokens.env,
  ADMIN_PORT: String(port),
  ADMIN_PUBLIC_URL: consoleUrl,
  ADMIN_LOGIN_PROVIDER: 'people',
  ADMIN_LOGIN_OPERATE_GROUPS: 'admins',
});
const other = await fixture.start(ENV);
const url = await adminUrlOf(first);
const reader = new AdminCalls(url, tokens.reader);
const operator = new AdminCalls(url, tokens.operator);
const employee = await createCliUser();
afterAll(() => fixture.close());
const visit = useChromium();

inChromium('the console for administrators', () => {
  let visitor: Visitor;

  /** An account of the other replica, with an identity of this address. */
  async function employ(email: string): Promise<string> {
    const { accountId } = await fixture.person(other);
    await knowAs(accountId, email);
    return accountId;
  }

  async function knowAs(accountId: string, email: string): Promise<void> {
    const facts = { email, emailVerified: true, login: null, groups: ['staff'], memberships: {} };
    const statement = 'UPDATE identity SET facts = $2 WHERE account_id = $1';
    await fixture.sql.query(statement, [accountId, facts]);
  }

  const stateOf = async (accountId: string): Promise<unknown> =>
    (await reader.get(`/accounts/${accountId}`)).body['state'];

  it('finds, explains and disables the account of an employee who left, on every replica', async () => {
    const signup = await employee.run(['signup', '--server', other.url, '--json']);
    expect(signup).toMatchObject({ code: 0, stderr: '' });
    const { accountId } = JSON.parse(signup.stdout) as { accountId: string };
    await fixture.link([accountId]);
    await knowAs(accountId, NAME);
    const watch = employee.start(['watch', '--json']);
    await watch.until(() => watch.stderr().includes('Connected'));

    visitor = await openConsole(visit, consoleUrl, tokens.operator);
    await findAccount(visitor, 'Alice@Example', NAME);
    await sees(visitor, 'This account is admitted');
    await sees(visitor, 'The sign-in method Device key is allowed.');
    await act(visitor, 'Disable…', 'Disable the account', 'left the company');
    await sees(visitor, 'The account is disabled.');
    await visitor.page.locator('button:focus', { hasText: 'Enable…' }).waitFor();
    await sees(visitor, 'Refused: an administrator disabled this account');

    const { code, stderr } = await watch.exited;
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/disabled/i);
    await openSection(visitor, 'Audit trail');
    await visitor.page.getByLabel('Account ID').fill(accountId);
    await visitor.press('Filter');
    const row = visitor.page.getByRole('row', { name: /Account disabled/ });
    expect(await row.innerText()).toMatch(/left the company[^]*alice/);
  });

  it('keeps the token in its tab, and refuses an invalid one', async () => {
    visitor = await visit(consoleUrl);
    const { page } = visitor;
    for (const wrong of ['wrong', `${tokens.operator}x`, 'tökén']) {
      await signInWith(visitor, wrong);
      await sees(visitor, 'The server does not know this token.');
    }
    await signInWith(visitor, ` ${tokens.reader} `);
    await seesTitle(visitor, 'Overview');
    expect(page.url()).not.toContain(tokens.reader);
    await page.reload();
    await seesTitle(visitor, 'Overview');
    const second = await visitIn(page.context(), consoleUrl);
    await seesTitle(second, 'Administration');
    await second.close();
    await visitor.press('Sign out');
    await seesTitle(visitor, 'Administration');
    expect(await page.evaluate('JSON.stringify([sessionStorage, document.cookie])')).toBe(
      '[{},""]',
    );
  });

  it('offers a reader no action but to copy, also over plain HTTP and where the browser refuses', async () => {
    const accountId = await employ('copied@example.com');
    visitor = await openConsole(visit, consoleUrl, tokens.reader);
    await findAccount(visitor, accountId, 'copied@example.com');
    const { page } = visitor;
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(await page.getByRole('button', { name: '…' }).count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.evaluate('navigator.clipboard')).toBeUndefined();
    const copy = page.getByRole('button', { name: /^(Copy|Copied): Account ID$/ });
    await copy.click();
    await page.getByRole('button', { name: 'Copied: Account ID' }).waitFor();
    await page.evaluate('document.execCommand = () => false');
    await copy.click();
    await sees(visitor, 'The text is selected: copy it yourself.');
    expect(await page.evaluate('String(getSelection())')).toBe(accountId);
    await openSection(visitor, 'Accounts');
    await page.getByLabel('Find an account').press('Control+V');
    expect(await page.getByLabel('Find an account').inputValue()).toBe(accountId);
  });

  it('shows changes by other administrators as they happen', async () => {
    const accountId = await employ('live@example.com');
    visitor = await openConsole(visit, consoleUrl, tokens.operator);
    await findAccount(visitor, 'live@', 'live@example.com');
    await sees(visitor, 'This account is admitted');
    await operator.act(accountId, 'disable', 'by another administrator');
    await sees(visitor, 'Refused: an administrator disabled this account');
    await sees(visitor, 'by another administrator');
    await act(visitor, 'Enable…', 'Enable the account', 'returned');
    await sees(visitor, 'This account is admitted');
    expect(await stateOf(accountId)).toBe('active');
  });

  it('ends one session, all sessions, and the account, each with a reason', async () => {
    const accountId = await employ('several@example.com');
    visitor = await openConsole(visit, consoleUrl, tokens.operator);
    await findAccount(visitor, 'several@', 'several@example.com');
    const { page } = visitor;
    await page.getByRole('button', { name: 'Check again…' }).click();
    const question = page.getByRole('dialog');
    expect(await question.getByRole('button', { name: 'Check now' }).isDisabled()).toBe(true);
    await question.getByLabel('Reason').fill('   ');
    expect(await question.getByRole('button', { name: 'Check now' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await act(visitor, 'End the session of Unnamed client', 'End the session', 'lost phone');
    await sees(visitor, 'No session is live.');
    await act(visitor, 'End all sessions…', 'End all sessions', 'to be sure');
    await sees(visitor, 'All sessions have ended.');
    await visitor.press('Delete…');
    await question.getByLabel('Reason').fill('asked for it');
    const remove = question.getByRole('button', { name: 'Delete the account' });
    expect(await remove.isDisabled()).toBe(true);
    await question.getByLabel('I understand').check();
    await remove.click();
    await sees(visitor, 'This account does not exist');
    const { body } = await reader.get(`/audit?accountId=${accountId}&actor=alice`);
    expect((body['events'] as Json[]).map(({ kind, reason }) => ({ kind, reason }))).toEqual([
      { kind: 'account-deleted', reason: 'asked for it' },
      { kind: 'all-tokens-revoked', reason: 'to be sure' },
      { kind: 'token-revoked', reason: 'lost phone' },
    ]);
  });

  it('pages through the results, and keeps the filter in the address', async () => {
    await fixture.crowd(30);
    visitor = await openConsole(visit, consoleUrl, tokens.reader);
    await openSection(visitor, 'Accounts');
    const { page } = visitor;
    await page.getByLabel('Provider').selectOption('people');
    const names = async () => (await page.locator('tbody a').allInnerTexts()).join();
    await visitor.press('Next');
    await page.getByRole('button', { name: 'Previous', disabled: false }).waitFor();
    const second = await waitFor('the second page', async () => (await names()) || undefined);
    expect(page.url()).toMatch(/#accounts\?provider=people$/);
    await visitor.press('Previous');
    await page.getByRole('button', { name: 'Previous', disabled: true }).waitFor();
    await waitFor('the page before', async () => !['', second].includes(await names()));
    await page.getByLabel('Find an account').fill('no-such-person');
    await visitor.press('Find');
    await sees(visitor, 'No account matches');
    await page.goBack();
    await page.getByRole('button', { name: 'Next', disabled: false }).waitFor();
  });

  it('filters the audit trail, and downloads the filtered events', async () => {
    const accountId = await employ('audited@example.com');
    await operator.act(accountId, 'disable', 'for the record');
    visitor = await openConsole(visit, consoleUrl, tokens.reader);
    await openSection(visitor, 'Audit trail');
    const { page } = visitor;
    await page.getByLabel('Account ID').fill(accountId);
    await page.getByLabel('Event', { exact: true }).selectOption('Account disabled');
    await visitor.press('Filter');
    // The same event is shown without the filter, too.
    await page.getByRole('link', { name: 'Clear' }).waitFor();
    await sees(visitor, 'for the record');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      visitor.press('Download as NDJSON'),
    ]);
    expect(download.suggestedFilename()).toBe('audit.ndjson');
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as Json)).toEqual([
      expect.objectContaining({ kind: 'account-disabled', reason: 'for the record' }),
    ]);
    await page.getByLabel('Account ID').fill('nonsense');
    await visitor.press('Filter');
    await sees(visitor, /accountId must be a UUID/);
    await visitor.press('Sign out');
    await page.getByLabel('Administrator token').waitFor();
    expect(new URL(page.url()).hash).toBe('');
  });

  it('shows the policy, and the effect of other variables', async () => {
    await employ('director@example.com');
    visitor = await openConsole(visit, consoleUrl, tokens.reader);
    await openSection(visitor, 'Policy');
    const { page } = visitor;
    const topic = page.locator('.topic', { hasText: 'New accounts' });
    await topic.getByRole('listitem').first().waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('button', { name: 'Try a change' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('h2:focus', { hasText: 'Try a change' }).waitFor();
    const places = `['h2:focus', '.topbar'].map((one) =>
      document.querySelector(one).getBoundingClientRect())`;
    type Place = { readonly top: number; readonly bottom: number };
    const [heading, bar] = await page.evaluate<[Place, Place]>(places);
    expect(heading.top).toBeGreaterThanOrEqual(Math.max(bar.bottom, 0));
    expect(heading.top).toBeLessThan(600);
    const variables = page.getByLabel('Changed variables');
    await variables.fill('nonsense');
    await visitor.press('See what would change');
    await sees(visitor, 'Write each variable on a line of its own');
    await variables.fill('ADMIN_TOKENS_FILE=/etc/passwd');
    await visitor.press('See what would change');
    await sees(visitor, /environment.ADMIN_TOKENS_FILE/);
    await variables.fill('');
    const present = page.getByLabel('Add a variable with its present value');
    await present.selectOption('AUTH_PROVIDERS_CONFIG_JSON');
    const text = await variables.inputValue();
    expect(text).toContain(`"issuer": "${fixture.provider.issuer}"`);
    expect(text).not.toMatch(/secret/i);
    await visitor.press('See what would change');
    await sees(visitor, 'Nothing changes: these variables say what is in force now.');
    await variables.fill(text.replace(/"groupsAny": \[[^\]]*\]/, '"groupsAny": ["directors"]'));
    await visitor.press('See what would change');
    await sees(visitor, 'Would lose access');
    await sees(visitor, /people, groups, one of: [a-z]+ → directors/);
    await page
      .locator('summary', { hasText: /^Show \d+ of them|^Show the account/ })
      .first()
      .click();
    // The page names some of the accounts that would lose access.
    await page.locator('.outcome details').getByRole('link').first().click();
    await sees(visitor, 'This account is admitted');
  });

  describe('for a browser that is signed in through a provider', () => {
    let attacker: LocalServer;
    let attackerUrl: string;

    beforeAll(async () => {
      const headers = { 'content-type': 'text/html' };
      attacker = await startLocalServer(() => ({ status: 200, headers }));
      // The attacker has the same site, so its requests carry the strict cookie of the console.
      attackerUrl = attacker.url.replace('127.0.0.1', 'attacker.console.example');
    });
    afterAll(() => attacker.close());

    async function signIn(): Promise<void> {
      visitor = await visit(consoleUrl);
      const { page } = visitor;
      fixture.provider.groups.set('ada', ['admins']);
      const [response] = await Promise.all([
        page.waitForRequest((request) => request.url().startsWith(fixture.provider.issuer)),
        page.getByRole('link', { name: 'Continue with people' }).click(),
      ]);
      await page.goto(fixture.provider.authorize(response.url(), 'ada').href);
      await seesTitle(visitor, 'Overview');
      await sees(visitor, 'people:ada');
    }

    it('acts in the name of that person, until they sign out', async () => {
      const accountId = await employ('session@example.com');
      await signIn();
      await findAccount(visitor, accountId, 'session@example.com');
      await act(visitor, 'Disable…', 'Disable the account', 'from a session');
      await sees(visitor, 'people:ada');
      expect(await stateOf(accountId)).toBe('disabled');
      // The session may go on where the server does not answer its end.
      const { page } = visitor;
      await page.route('**/logout', (route) => route.abort());
      await visitor.press('Sign out');
      await sees(visitor, 'this browser may still be signed in');
      await page.unroute('**/logout');
      await page.reload();
      // The page is that of the account again, with the session.
      await visitor.press('Sign out');
      await seesTitle(visitor, 'Administration');
      await page.reload();
      await seesTitle(visitor, 'Administration');
    });

    it('refuses a page of another origin every answer, action and frame', async () => {
      const accountId = await employ('victim@example.com');
      await signIn();
      const context = visitor.page.context();
      const page = await context.newPage();
      await page.goto(attackerUrl);
      const target = `${consoleUrl}/admin/v1/accounts/${accountId}`;
      const forged = await page.evaluate<string[]>(`(async () => {
        const tries = [
          ['GET', {}],
          ['POST', { body: '{"reason":"forged"}' }],
          ['POST', { body: '{"reason":"forged"}', headers: { 'content-type': 'application/json' } }],
          ['POST', { body: '{"reason":"forged"}', mode: 'no-cors' }],
        ];
        return Promise.all(tries.map(([method, options]) =>
          fetch('${target}' + (method === 'POST' ? '/disable' : ''), {
            method, credentials: 'include', ...options,
          }).then(async (answer) => answer.type + (await answer.text()), () => 'blocked')));
      })()`);
      expect(forged).toEqual(['blocked', 'blocked', 'blocked', 'blocked']);
      const answered = page.waitForResponse(`${target}/disable`);
      await page.evaluate(`(() => {
        document.body.innerHTML = '<form method="post" enctype="text/plain" action="${target}/disable">'
          + '<input name=\\'{"reason":"forged","x":"\\' value=\\'"}\\'></form>';
        document.forms[0].submit();
      })()`);
      expect((await answered).status()).toBeGreaterThanOrEqual(400);
      await page.waitForURL(`${target}/disable`);
      expect(await stateOf(accountId)).toBe('active');

      await page.goto(attackerUrl);
      await page.evaluate(`new Promise((done) => {
        const frame = document.createElement('iframe');
        frame.onload = done;
        frame.src = '${consoleUrl}/admin/';
        document.body.append(frame);
      })`);
      const frame = () => page.frames()[1];
      await waitFor('the frame is refused', () => frame()?.url().startsWith('chrome-error:'));
      expect(await frame()?.locator('#page').count()).toBe(0);
      await page.close();
    });
  });

  it('serves small files, cached by their names, on the port of administrators only', async () => {
    visitor = await openConsole(visit, consoleUrl, tokens.reader);
    const loaded = new Set<string>();
    visitor.page.on('request', (request) => {
      if (request.url().includes('/admin/assets/')) {
        loaded.add(basename(request.url()));
      }
    });
    await visitor.page.reload();
    await seesTitle(visitor, 'Overview');
    await visitor.page.getByLabel('Language').selectOption('Deutsch');
    await seesTitle(visitor, 'Übersicht');
    expect(loaded.size).toBeGreaterThan(2);
    const sizes = await Promise.all([...loaded].map((name) => stat(join(ASSETS, `${name}.gz`))));
    expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(MAX_BYTES);
    const page = await call(reader, 'GET', '/admin/');
    expect(page.headers['content-security-policy']).toMatch(
      /default-src 'none';.*frame-ancestors 'none'.*script-src 'self'/,
    );
    const script = /src="\.\/(assets\/[^"]+)"/.exec(page.text)?.[1] ?? '';
    const asset = await call(reader, 'GET', `/admin/${script}`);
    expect(asset.headers['cache-control']).toContain('immutable');
    for (const path of ['/admin', '/admin/', `/admin/${script}`]) {
      expect((await call(other, 'GET', path)).status).toBe(404);
    }
  });
});
