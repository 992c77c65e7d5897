import { randomBytes } from 'node:crypto';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { formatDeviceKey } from '../../../../src/packages/client/crypto/key-text.js';
import { call } from '../../../helpers/client.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { runSql } from '../../../fixtures/programs/services-fixture.js';
import {
  askToDelete,
  createAccount,
  enterKey,
  open,
  sees as seesIn,
  seesAccount,
  seesSignIn,
  tokenOf,
} from '../account-page-acts.js';
import { sessionIdOf, sessionsOf } from '../../../fixtures/sessions-fixture.js';
import { waitFor } from '../../../helpers/wait.js';

const server = await startServer({ env: { AUTH_ACCESS_CACHE_SECONDS: '0' } });
afterAll(() => server.stop());
const visit = useChromium();

inChromium('the session and the key on the account page', () => {
  let visitor: Visitor;

  beforeEach(async () => {
    visitor = await visit(`${server.url}/app`);
  });

  const sees = (words: string) => seesIn(visitor, words);

  async function signIn(on: Visitor, key: string): Promise<void> {
    await enterKey(on, key);
    await seesAccount(on);
  }

  async function deleteAccount(): Promise<void> {
    await askToDelete(visitor);
    await visitor.page.getByLabel('Type “delete” to confirm').fill('delete');
    await visitor.press('Delete it');
  }

  it('shows the sign-in when the session ended during the sign-out', async () => {
    await createAccount(visitor);
    const bearer = { token: await tokenOf(visitor) };
    await visitor.page.route('**/v1/auth/logout', async (route) => {
      await call(server, 'POST', '/v1/auth/logout-everywhere', bearer);
      await route.continue();
    });
    await visitor.press('Sign out');
    await seesSignIn(visitor);
  });

  it.each([
    ['does not answer', 'abort'],
    ['fails', 'fulfill'],
  ] as const)('signs out of this browser where the server %s', async (_case, how) => {
    const { page } = visitor;
    const key = await createAccount(visitor);
    await visitor.press('Sign out');
    await page.getByLabel('Stay signed in on this device').check();
    await signIn(visitor, key);
    const token = await tokenOf(visitor);
    await page.route('**/v1/auth/logout', (route) =>
      how === 'abort' ? route.abort() : route.fulfill({ status: 503, body: '{}' }),
    );
    await visitor.press('Sign out');
    await seesSignIn(visitor);
    expect(await page.getByRole('alert').innerText()).toContain('only in this browser');
    const kept = () =>
      page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect(await kept()).not.toContain(token);
    await page.reload();
    await seesSignIn(visitor);
    expect((await call(server, 'GET', '/v1/account/profile', { token })).status).toBe(200);
  });

  it('says that the sign-out reached this browser alone while the server is away', async () => {
    await createAccount(visitor);
    await visitor.page.route('**/v1/**', (route) => route.abort());
    await visitor.press('Sign out');
    await sees('The server does not answer.');
    expect(await visitor.text()).toContain('only in this browser');
    await visitor.page.unroute('**/v1/**');
    await seesSignIn(visitor);
    const alerts = await visitor.page.getByRole('alert').allInnerTexts();
    expect(alerts).toEqual([expect.stringContaining('only in this browser')]);
  });

  it('signs out of the other tabs too where the server does not answer', async () => {
    const { page } = visitor;
    await page.getByLabel('Stay signed in on this device').check();
    await createAccount(visitor);
    const other = { ...visitor, page: await page.context().newPage() };
    await other.page.goto(`${server.url}/app`);
    await seesAccount(other);
    let answer: () => void = () => undefined;
    const held = new Promise<void>((done) => (answer = done));
    await page.route('**/v1/auth/logout', async (route) => {
      await held;
      await route.abort();
    });
    await visitor.press('Sign out');
    await seesSignIn(other);
    await seesIn(other, 'You are signed out.');
    // This tab says so only once it knows how the sign-out ended.
    await seesAccount(visitor);
    answer();
    await sees('only in this browser');
    await other.page.close();
  });

  it('shows the overview to the next person after a sign-out, in every tab', async () => {
    const { page } = visitor;
    await page.getByLabel('Stay signed in on this device').check();
    await createAccount(visitor);
    const other = { ...visitor, page: await page.context().newPage() };
    await other.page.goto(`${server.url}/app#devices`);
    await seesIn(other, 'Where you are signed in. End what you do not recognize.');
    await open(visitor, 'Security');
    await visitor.press('Sign out');
    for (const tab of [visitor, other]) {
      await seesSignIn(tab);
      expect(tab.page.url()).toBe(`${server.url}/app/`);
    }
    await other.page.close();
    await createAccount(visitor);
  });

  it('forgets the session before the server answers the sign-out', async () => {
    const { page } = visitor;
    await createAccount(visitor);
    const called = page.waitForRequest('**/v1/auth/logout');
    await page.route('**/v1/auth/logout', () => undefined);
    await visitor.press('Sign out');
    await called;
    await page.reload();
    await seesSignIn(visitor);
  });

  it('ends another session, which then shows the sign-in', async () => {
    const key = await createAccount(visitor);
    const other = await visit(`${server.url}/app`);
    await signIn(other, key);
    const bearer = { token: await tokenOf(other) };
    await visitor.page.reload();
    await open(visitor, 'Devices and sessions');
    await sees('This device');
    await sees('Signed in just now with a device key');
    await visitor.press('End the session of Chrome on Linux');
    await sees('That session has ended.');
    await seesSignIn(other);
    expect((await call(server, 'GET', '/v1/account/profile', bearer)).status).toBe(401);
    await visitor.page.getByRole('button', { name: /^End the session/ }).waitFor({
      state: 'detached',
    });
  });

  it('keeps a new session when a late answer refuses the one before it', async () => {
    const { page } = visitor;
    const key = await createAccount(visitor);
    const bearer = { token: await tokenOf(visitor) };
    await open(visitor, 'Devices and sessions');
    let answer: () => void = () => undefined;
    const held = new Promise<void>((done) => (answer = done));
    await page.route('**/v1/account/sessions/**', async (route) => {
      await held;
      await route.continue();
    });
    await visitor.press('Rename: Chrome on Linux');
    await page.getByRole('dialog').getByLabel('Name').fill('Kitchen');
    await visitor.press('Save');
    await call(server, 'POST', '/v1/auth/logout', bearer);
    await seesSignIn(visitor);
    await enterKey(visitor, key);
    await page.getByRole('heading', { name: 'Devices and sessions' }).waitFor();
    const fresh = await tokenOf(visitor);
    const refused = page.waitForResponse('**/v1/account/sessions/**');
    answer();
    expect((await refused).status()).toBe(401);
    // The time in which the page would act on the refusal.
    await page.waitForTimeout(300);
    expect(await tokenOf(visitor)).toBe(fresh);
    expect(await visitor.text()).not.toContain('Sign in again');
  });

  it('ends the session of a closed tab within hours, unless the person chose to stay', async () => {
    const key = await createAccount(visitor);
    const hours = async (): Promise<number> => {
      const [session] = await sessionsOf(server, await tokenOf(visitor));
      return ((session?.expiresAt ?? 0) - (session?.createdAt ?? 0)) / 3_600_000;
    };
    expect(Math.ceil(await hours())).toBe(12);
    await visitor.press('Sign out');
    await visitor.page.getByLabel('Stay signed in on this device').check();
    await signIn(visitor, key);
    expect(await hours()).toBeGreaterThan(24);
  });

  it('keeps a session for all tabs of the browser if the person chose to stay', async () => {
    const { page } = visitor;
    const key = await createAccount(visitor);
    await visitor.press('Sign out');
    await page.getByLabel('Stay signed in on this device').check();
    await signIn(visitor, key);
    const other = { ...visitor, page: await page.context().newPage() };
    await other.page.goto(`${server.url}/app`);
    await seesAccount(other);
    expect(await tokenOf(other)).toBe(await tokenOf(visitor));
    await visitor.press('Sign out');
    await seesSignIn(other);
    await other.page.reload();
    await seesSignIn(other);
    expect(await page.evaluate("localStorage.getItem('gatehouse.session')")).toBeNull();
    await other.page.close();
  });

  it('asks to check a new key until it was entered, and needs it in no other section', async () => {
    const { page } = visitor;
    const key = await createAccount(visitor);
    expect(await page.getByText('Your account is ready.').count()).toBe(1);
    await page.locator('h1:focus', { hasText: 'Your account' }).waitFor();
    await open(visitor, 'Notifications');
    await page.getByRole('switch', { name: 'Send push notifications' }).waitFor();
    await open(visitor, 'Overview');
    await visitor.page.getByRole('link', { name: 'Check that you saved your key' }).click();
    await page.getByLabel('Device key', { exact: true }).fill(formatDeviceKey(randomBytes(32)));
    await visitor.press('Check the key');
    await sees('This is not the device key of this account.');
    await page.locator('input:focus[aria-describedby=key-problem]').waitFor();
    await page.getByLabel('Device key', { exact: true }).fill(key);
    await visitor.press('Check the key');
    await sees('This is the key of your account.');
    await page.reload();
    await open(visitor, 'Overview');
    await sees('What to do next');
    expect(await visitor.text()).not.toContain('Check that you saved your key');
  });

  it('shows the key for a print only while it was entered recently', async () => {
    // Its own context, which is not used again: the clock of a context stays installed.
    const person = await visit(`${server.url}/app`, {});
    const { page } = person;
    await page.clock.install();
    const key = await createAccount(person);
    await open(person, 'Security');
    await person.press('Show or print the key');
    expect(await page.getByLabel('Your device key').inputValue()).toBe(key);
    await open(person, 'Overview');
    await page.clock.fastForward('15:01');
    await open(person, 'Security');
    await page.getByRole('button', { name: 'Check the key' }).waitFor();
    expect(await page.getByRole('button', { name: 'Show or print the key' }).count()).toBe(0);
  });

  it('blames the clock where a challenge has expired by that of the device', async () => {
    // Its own context, which is not used again: the clock of a context stays installed.
    const person = await visit('about:blank', {});
    await person.page.clock.setFixedTime(Date.now() + 3_600_000);
    await person.page.goto(`${server.url}/app`);
    await enterKey(person, formatDeviceKey(randomBytes(32)));
    await seesIn(person, 'The clock of this device is ahead of the clock of the server.');
  });

  it('names a session', async () => {
    await createAccount(visitor);
    await open(visitor, 'Devices and sessions');
    await visitor.press('Rename: Chrome on Linux');
    await visitor.page.getByRole('dialog').getByLabel('Name').fill('Kitchen');
    await visitor.press('Save');
    await sees('The name is saved.');
    await sees('Kitchen');
    const [session] = await sessionsOf(server, await tokenOf(visitor));
    expect(session?.client).toEqual({ name: 'Kitchen', platform: 'web' });
  });

  it('translates the names that pages make, and no others', async () => {
    const { page } = visitor;
    await createAccount(visitor);
    const token = await tokenOf(visitor);
    const made = ['Safari on iPhone', 'Firefox on Windows', 'Browser on Linux'];
    const chosen = ['Chrome at home', 'Chrome on Linux!', 'Netscape on Linux', 'Firefox'];
    for (const [index, name] of [...made, ...chosen].entries()) {
      const body = { token: `ExponentPushToken[names-${index}]`, name };
      await call(server, 'POST', '/v1/push-tokens', { token, body });
    }
    await open(visitor, 'Devices and sessions');
    const receivers = page.locator('section[aria-labelledby=receivers] strong');
    const shown = async (): Promise<string[]> => (await receivers.allInnerTexts()).toSorted();
    await waitFor(
      'all receivers',
      async () => (await receivers.count()) === made.length + chosen.length,
    );
    expect(await shown()).toEqual([...made, ...chosen].toSorted());
    await page.getByLabel('Language').selectOption('Deutsch');
    const german = ['Safari auf dem iPhone', 'Firefox unter Windows', 'Browser unter Linux'];
    await sees('Firefox unter Windows');
    expect(await shown()).toEqual([...german, ...chosen].toSorted());
    await visitor.press('Umbenennen: Chrome unter Linux');
    const name = page.getByRole('dialog').getByLabel('Name');
    expect(await name.inputValue()).toBe('Chrome unter Linux');
    await name.fill('Edge unter Android');
    await visitor.press('Speichern');
    await sees('Der Name ist gespeichert.');
    const [session] = await sessionsOf(server, token);
    expect(session?.client.name).toBe('Edge on Android');
    await page.getByLabel('Sprache').selectOption('English');
    await sees('Edge on Android');
  });

  it('asks for a new sign-in before the account is deleted', async () => {
    const key = await createAccount(visitor);
    const old = { token: await tokenOf(visitor) };
    await runSql(
      server.databaseUrl,
      `UPDATE session SET created_at = created_at - interval '1 hour' WHERE id = $1`,
      [sessionIdOf(old.token)],
    );
    await open(visitor, 'Security');
    await deleteAccount();
    await seesSignIn(visitor);
    expect(await visitor.page.getByRole('alert').innerText()).toContain('Sign in again');
    expect((await call(server, 'GET', '/v1/account/profile', old)).status).toBe(200);
    await enterKey(visitor, key);
    await visitor.page.getByRole('heading', { name: 'Security' }).waitFor();
    // The new session replaces the one that was too old.
    await waitFor('the old session to end', async () => {
      return (await call(server, 'GET', '/v1/account/profile', old)).status === 401;
    });
    await deleteAccount();
    await sees('Your account was deleted.');
    expect((await call(server, 'GET', '/v1/account/profile', old)).status).toBe(401);
  });
});
