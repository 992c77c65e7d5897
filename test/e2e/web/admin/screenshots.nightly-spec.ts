import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { waitFor } from '../../../helpers/wait.js';
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
import { EventStreamFixture } from '../../../fixtures/event-stream-fixture.js';
import { backends, exchange } from '../../../fixtures/resource-server-fixture.js';
import { PageScreenshots } from '../page-screenshots.js';

const PEOPLE = [
  'ada.lovelace',
  'alan.turing',
  'edsger.dijkstra',
  'grace.hopper',
  'katherine.johnson',
];

const TRANSMITTER = 'https://idp.example.com/realms/acme';

const [fixture, tokens, screenshots] = await Promise.all([
  OffboardingFixture.open(),
  AdminTokensFile.create(),
  PageScreenshots.open('admin-console'),
]);
const strict = {
  requireProviders: ['people'],
  allowKeyless: false,
  claims: ['login', 'email'],
};
const relays = backends([
  { id: 'relay', name: 'Relay' },
  { id: 'files', name: 'Files', ...strict },
]);
const offboarding = { AUTH_OFFBOARDING_ENABLED: 'true' };
const signals = {
  scim: { token: 'a-token-of-the-directory-of-the-spec', match: 'email', required: true },
  sharedSignals: { transmitter: TRANSMITTER },
};
const server = await fixture.start({
  ...relays.env,
  AUTH_PROVIDERS_CONFIG_JSON: fixture.providers({ signals }),
  SERVICE_PUBLIC_URL: 'http://127.0.0.1:1',
  ...tokens.env,
  ...offboarding,
});
const url = await adminUrlOf(server);
const accountId = await populate();
afterAll(() => fixture.close());
const visit = useChromium();

/** Creates people with sessions, a refused one, a disabled one, and a waiting check. */
async function populate(): Promise<string> {
  const operator = new AdminCalls(url, tokens.operator);
  const checked = await fixture.person(server);
  await operator.act(checked.accountId, 'recheck', 'moved to another team');
  await fixture.until('its check', () => (fixture.provider.checks.get(checked.sub) ?? 0) > 0);
  await operator.remove(checked.accountId);
  const ids: string[] = [];
  for (const login of PEOPLE) {
    const person = await fixture.person(server);
    const facts = {
      ...{ login, email: `${login}@example.com`, emailVerified: true },
      ...{ groups: ['staff'], memberships: {} },
    };
    const statement = 'UPDATE identity SET login = $2, facts = $3 WHERE account_id = $1';
    await fixture.sql.query(statement, [person.accountId, login, facts]);
    ids.push(person.accountId);
  }
  const [first = '', second = '', third = '', fourth = ''] = ids;
  await operator.act(second, 'disable', 'left the company');
  await operator.act(fourth, 'disable', 'by mistake');
  await operator.act(fourth, 'enable', 'was a mistake');
  await fixture.sql.query(
    `UPDATE identity SET eligibility_status = 'ineligible', eligibility_reason = 'not_in_group',
       lease_until = now() + interval '1 hour', eligibility_next_check_at = now() - interval '2 hours'
     WHERE account_id = $1`,
    [third],
  );
  await fixture.sql.query(
    `INSERT INTO audit_event (at, kind, actor, provider, reason, subject, login, email, count)
     VALUES (now(), 'login-refused', 'user', 'people', 'group_missing', 'sub-of-mallory',
         'mallory', 'mallory@example.com', 3),
       (now(), 'login-refused', 'user', 'people', 'not-eligible', NULL, NULL, NULL, 3)`,
  );
  await fixture.sql.query(
    `UPDATE session SET client_name = 'Firefox on Linux', client_platform = 'web', address = '192.0.2.7',
       created_at = now() - interval '3 days', last_seen_at = now() - interval '10 minutes'`,
  );
  await reportLeavers();
  return first;
}

/** Stores the people of a directory, a paused stream and the last signals of a provider. */
async function reportLeavers(): Promise<void> {
  await fixture.sql.query(
    `INSERT INTO directory_person (id, provider, user_name, external_id, is_active, is_ambiguous,
       emails, email_values, created_at, changed_at)
     SELECT md5(n::text)::uuid, 'people', 'person.number-' || n || '@example.com',
       CASE WHEN n % 3 > 0 THEN '00u1abcdefGHIJKL0h' || n END, n % 5 > 0, n % 7 = 0, '[]', '{}',
       now(), now() - n * interval '1 hour'
     FROM generate_series(1, 30) AS n`,
  );
  await fixture.sql.query(
    `INSERT INTO signal_stream (provider, transmitter, stream_id, audiences, status, reason,
       verification_state, connected_at, seen_at, verified_at, check_at)
     VALUES ('people', $1, 'one', '{}', 'paused', 'The receiver did not answer.', '', now(),
       now() - interval '3 hours', now(), 'infinity')`,
    [TRANSMITTER],
  );
  await fixture.sql.query(
    `INSERT INTO provider_signal (provider, kind, received_at)
     VALUES ('people', 'shared-signals', now() - interval '3 hours'),
       ('people', 'scim', now() - interval '5 minutes')`,
  );
  await fixture.sql.query(
    `INSERT INTO audit_event (at, kind, actor, provider, reason, subject, issuer, signal_txn)
     VALUES (now(), 'eligibility-lost', 'provider', 'people', 'shared-signals', 'sub-of-trent', $1,
       'c1a2')`,
    [TRANSMITTER],
  );
}

inChromium('every page of the console', () => {
  let visitor: Visitor;

  const unmatchedRows = ({ page }: Visitor): Promise<number> =>
    page.locator('main tbody tr').count();

  it('shows the sign-in without faults', async () => {
    visitor = await visit(url, { reducedMotion: 'reduce' });
    await seesTitle(visitor, 'Administration');
    await signInWith(visitor, 'wrong');
    await sees(visitor, 'The server does not know this token.');
    await screenshots.check(visitor, 'sign-in');
  });

  it('shows the pages of an administrator without faults', async () => {
    visitor = await openConsole(visit, url, tokens.operator);
    await sees(visitor, 'All accounts');
    await sees(visitor, /^[1-9]\d* sign-ins, [1-9]\d* refused$/);
    await visitor.page.getByRole('button', { name: '7 days' }).click();
    await visitor.page.getByRole('button', { name: '7 days', pressed: true }).waitFor();
    expect(await visitor.page.locator('main h2').first().innerText()).toBe('Findings');
    await screenshots.check(visitor, 'overview');
    await openSection(visitor, 'Accounts');
    await sees(visitor, 'grace.hopper@example.com');
    await sees(visitor, '5 accounts');
    await screenshots.check(visitor, 'accounts');
    await findAccount(visitor, 'ada', 'ada.lovelace@example.com');
    await sees(visitor, 'Firefox on Linux');
    await screenshots.check(visitor, 'account');
    await visitor.press('Disable…');
    await screenshots.check(visitor, 'disable');
    await visitor.press('Cancel');
    await openSection(visitor, 'Invitations');
    await sees(visitor, /AUTH_SIGNUP_INVITATIONS_ENABLED=true/);
    expect(await visitor.page.getByRole('button', { name: /new invitation/i }).count()).toBe(0);
    await screenshots.check(visitor, 'invitations-off');
    await exchange(server, 'no-token', 'relay');
    const stream = await EventStreamFixture.open(server, relays, 'relay');
    await openSection(visitor, 'Backends');
    await sees(visitor, stream.id.slice(0, 8));
    await sees(visitor, 'https://files.example.com');
    await sees(visitor, 'Token exchange');
    await screenshots.check(visitor, 'backends');
    await openSection(visitor, 'Signals');
    await sees(visitor, /30 people/);
    await sees(visitor, /Request of the directory: \d+ minutes ago/);
    await visitor.page.getByRole('button', { name: 'Next' }).click();
    await waitFor('the last page', async () => (await unmatchedRows(visitor)) === 5);
    await visitor.page.getByRole('button', { name: 'Previous' }).click();
    await waitFor('the first page', async () => (await unmatchedRows(visitor)) === 25);
    await screenshots.check(visitor, 'signals');
    const open = visitor.page.getByRole('button', { name: /^End the refusal of person/ });
    const refused = await open.count();
    const [name = ''] = (await open.first().getAttribute('aria-label'))?.match(/person.*/) ?? [];
    await act(visitor, `End the refusal of ${name}`, 'End the refusal', 'returns from leave');
    await sees(visitor, 'The refusal has ended.');
    await waitFor('one button less', async () => (await open.count()) === refused - 1);
    await sees(visitor, 'Deactivated, refusal ended');
    const other = visitor.page.getByRole('button', { name: /^End another refusal at / });
    await other.first().click();
    await visitor.page.getByRole('dialog').getByLabel('Person').fill('nobody@example.com');
    await visitor.page.getByRole('dialog').getByLabel('Reason').fill('asked by phone');
    await screenshots.check(visitor, 'end-refusal');
    await visitor.press('End the refusal');
    await sees(visitor, 'Nothing changed: it was so already.');
    await openSection(visitor, 'Audit trail');
    await visitor.page.getByRole('row', { name: /Refusal ended.*returns from leave/ }).waitFor();
    await sees(visitor, 'left the company');
    const refusal = visitor.page.getByRole('row', { name: /Sign-in refused.*mallory/ });
    const refusalText = await refusal.innerText();
    expect(refusalText).toMatch(/not in a required group · people[^]*mallory@example\.com/);
    expect(refusalText.split('mallory@example.com')).toHaveLength(2);
    const signalled = visitor.page.getByRole('row', { name: /sub-of-trent/ });
    expect(await signalled.innerText()).toContain(`${TRANSMITTER} · transaction c1a2`);
    const disabled = visitor.page.getByRole('row', { name: /left the company/ });
    expect(await disabled.innerText()).toContain('alan.turing@example.com');
    await screenshots.check(visitor, 'audit');
    await openSection(visitor, 'Policy');
    const { page } = visitor;
    const variables = page.getByLabel('Changed variables');
    const present = page.getByLabel('Add a variable with its present value');
    await present.selectOption('AUTH_PROVIDERS_CONFIG_JSON');
    const text = await variables.inputValue();
    await variables.fill(text.replace('"staff"', '"platform"'));
    await visitor.press('See what would change');
    await sees(visitor, 'Would lose access');
    await screenshots.check(visitor, 'policy-groups');
    await variables.fill('AUTH_REQUIRED_LOGIN_PROVIDERS=guild');
    await visitor.press('See what would change');
    await visitor.page.getByText('After:').waitFor();
    await screenshots.check(visitor, 'policy');
  });

  it('shows the pages of a reader without faults, in German', async () => {
    visitor = await openConsole(visit, url, tokens.reader);
    const { page } = visitor;
    await page.getByLabel('Language').selectOption('Deutsch');
    await seesTitle(visitor, 'Übersicht');
    await sees(visitor, /Die offene Registrierung ist an, obwohl ein Anbieter erforderlich ist/);
    await screenshots.check(visitor, 'overview-de');
    await page.goto(`${url}/admin/#accounts/${accountId}`);
    await sees(visitor, 'Dieses Konto ist zugelassen');
    await sees(visitor, 'Anmeldung mit Geräteschlüssel: erlaubt.');
    await sees(visitor, 'Firefox unter Linux');
    await screenshots.check(visitor, 'account-de');
    await page.goto(`${url}/admin/#audit`);
    await seesTitle(visitor, 'Protokoll');
    await page.getByRole('cell', { name: 'Konto gesperrt' }).first().waitFor();
    await screenshots.check(visitor, 'audit-de');
    await page.goto(`${url}/admin/#backends`);
    await sees(visitor, 'Signaturschlüssel');
    await screenshots.check(visitor, 'backends-de');
    await page.goto(`${url}/admin/#signals`);
    await sees(visitor, 'Nicht von diesem Server verbunden');
    await page.getByRole('table').waitFor();
    await screenshots.check(visitor, 'signals-de');
    await page.goto(`${url}/admin/#policy`);
    await sees(visitor, 'Wer diesen Server erreicht, kann ein Konto anlegen.');
    expect(await page.locator('main [lang="en"]').count()).toBe(0);
    await screenshots.check(visitor, 'policy-de');
  });

  it('teaches on the pages that have nothing to show yet', async () => {
    const empty = await fixture.start({
      ...tokens.env,
      ...{ AUTH_PROVIDERS_CONFIG_JSON: '', AUTH_REQUIRED_LOGIN_PROVIDERS: '' },
      AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false',
      AUTH_SIGNUP_INVITATIONS_ENABLED: 'true',
    });
    const emptyUrl = await adminUrlOf(empty);
    visitor = await openConsole(visit, emptyUrl, tokens.operator);
    const { page } = visitor;
    await openSection(visitor, 'Invitations');
    await sees(visitor, /gatehouse invite create/);
    await screenshots.check(visitor, 'invitations-none');
    await openSection(visitor, 'Backends');
    await sees(visitor, /AUTH_RESOURCE_SERVERS_CONFIG_PATH/);
    await screenshots.check(visitor, 'backends-none');
    await openSection(visitor, 'Signals');
    await sees(visitor, /"scim"/);
    await screenshots.check(visitor, 'signals-none');
    await page.goto(`${emptyUrl}/admin/#audit?kind=signing-keys-rotated`);
    await sees(visitor, 'No event matches the filter');
    await screenshots.check(visitor, 'audit-none');
    await page.getByLabel('Language').selectOption('Deutsch');
    await page.goto(`${emptyUrl}/admin/#backends`);
    await sees(visitor, 'Noch keine Backends');
    await screenshots.check(visitor, 'backends-none-de');
    await page.goto(`${emptyUrl}/admin/#invitations`);
    await sees(visitor, 'Noch keine Einladungen');
    await screenshots.check(visitor, 'invitations-none-de');
  });

  it('requests nothing while it is hidden, and marks old data', async () => {
    // The clock applies to everything that its context shows, now and later.
    visitor = await visit(url, { reducedMotion: 'reduce' });
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
    visitor = await openConsole(visit, url, tokens.operator);
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
