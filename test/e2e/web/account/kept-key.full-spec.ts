import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { runSql } from '../../../fixtures/programs/services-fixture.js';
import { addAuthenticator, type Passkeys } from '../../../fixtures/passkey-fixture.js';
import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import {
  accountId,
  createAccount,
  enterKey,
  open,
  sees as seesIn,
  seesAccount,
  seesSignIn,
  tokenOf,
} from '../account-page-acts.js';

const KEEP = 'Keep the key with a passkey…';
const FORGET = 'Forget the key on this device';

const server = await startServer({ env: { AUTH_ACCESS_CACHE_SECONDS: '0' } });
afterAll(() => server.stop());
const visit = useChromium();
/** The page at a host name: browsers allow no passkeys at an IP address. */
const address = `http://localhost:${server.port}/app`;

inChromium('the key that a browser keeps', () => {
  let visitor: Visitor;
  let passkeys: Passkeys;

  beforeEach(async () => {
    visitor = await visit(address);
    passkeys = await addAuthenticator(visitor.page);
  });

  const sees = (words: string) => seesIn(visitor, words);
  const button = (name: string) => visitor.page.getByRole('button', { name, exact: true });
  const opened = () =>
    visitor.page.getByRole('switch', { name: 'Send push notifications' }).waitFor();

  async function stored(): Promise<string> {
    return visitor.page.evaluate<string>('JSON.stringify([sessionStorage, localStorage])');
  }

  async function isKept(): Promise<boolean> {
    return (await stored()).includes('gatehouse.kept-key');
  }

  /** Keeps the key of a new account. @returns the key */
  async function keepKey(): Promise<string> {
    const key = await createAccount(visitor);
    await open(visitor, 'Security');
    await visitor.press(KEEP);
    await sees('This browser keeps the key until this session ends.');
    return key;
  }

  /** Keeps the key of a new account, with a session of all tabs. @returns the key */
  async function keepKeyForAllTabs(): Promise<string> {
    const key = await createAccount(visitor);
    await visitor.press('Sign out');
    await visitor.page.getByLabel('Stay signed in on this device').check();
    await enterKey(visitor, key);
    await seesAccount(visitor);
    await open(visitor, 'Security');
    await visitor.press(KEEP);
    await sees('This browser keeps the key until this session ends.');
    return key;
  }

  it('opens the settings with a passkey after a reload, and stores the key encrypted', async () => {
    const key = await keepKey();
    const texts = await stored();
    expect(texts).toContain('gatehouse.kept-key');
    expect(texts).not.toContain(key.slice('gatekey1'.length, 20));
    await visitor.page.reload();
    await open(visitor, 'Notifications');
    await sees('Your passkey opens it.');
    expect(await visitor.page.getByLabel('Device key', { exact: true }).count()).toBe(0);
    await visitor.press('Open the settings');
    await opened();
    // A passkey does not prove that the owner has saved the key.
    await open(visitor, 'Overview');
    await sees('Check that you saved your key');
  });

  it('offers to keep the key only after it was entered, and keeps none unasked', async () => {
    const key = await createAccount(visitor);
    await visitor.page.reload();
    await open(visitor, 'Security');
    await sees('Enter your key above first.');
    expect(await button(KEEP).count()).toBe(0);
    await visitor.page.getByLabel('Device key', { exact: true }).fill(key);
    await visitor.press('Check the key');
    await button(KEEP).waitFor();
    expect([await isKept(), await passkeys.count()]).toEqual([false, 0]);
  });

  it('asks for the typed key where the person is not recognized', async () => {
    const key = await keepKey();
    await visitor.page.reload();
    await open(visitor, 'Notifications');
    await passkeys.refusePerson();
    await visitor.press('Open the settings');
    await sees('The passkey was not used.');
    await visitor.press('Type the key instead');
    await visitor.page.getByLabel('Device key', { exact: true }).fill(key);
    await visitor.press('Open the settings');
    await opened();
  });

  it('refuses a kept key that was changed or moved to another account', async () => {
    await keepKey();
    await visitor.page.evaluate(`(() => {
      const kept = JSON.parse(sessionStorage.getItem('gatehouse.kept-key'));
      const first = kept.sealed.startsWith('A') ? 'B' : 'A';
      const sealed = first + kept.sealed.slice(1);
      sessionStorage.setItem('gatehouse.kept-key', JSON.stringify({ ...kept, sealed }));
    })()`);
    await visitor.page.reload();
    await open(visitor, 'Notifications');
    await visitor.press('Open the settings');
    await sees('The key that this browser keeps cannot be opened.');
    await visitor.page.evaluate(`(() => {
      const kept = JSON.parse(sessionStorage.getItem('gatehouse.kept-key'));
      const accountId = '00000000-0000-4000-8000-000000000000';
      sessionStorage.setItem('gatehouse.kept-key', JSON.stringify({ ...kept, accountId }));
    })()`);
    await visitor.page.reload();
    await visitor.page.getByLabel('Device key', { exact: true }).waitFor();
    expect(await isKept()).toBe(false);
  });

  it('is forgotten on request in every tab, where it is open too', async () => {
    const key = await keepKeyForAllTabs();
    const other = { ...visitor, page: await visitor.page.context().newPage() };
    await other.page.goto(`${address}#notifications`);
    await other.page.getByRole('button', { name: 'Type the key instead' }).click();
    await other.page.getByLabel('Device key', { exact: true }).fill(key);
    await other.page.getByRole('button', { name: 'Open the settings' }).click();
    await other.page.getByRole('switch', { name: 'Send push notifications' }).waitFor();
    await visitor.press(FORGET);
    await other.page.getByLabel('Device key', { exact: true }).waitFor();
    await open(other, 'Security');
    await seesIn(other, 'Enter your key above first.');
    expect(await isKept()).toBe(false);
    await waitFor('the passkey to be deleted', async () => (await passkeys.count()) === 0);
    await other.page.close();
  });

  it('hides a shown key after 15 minutes', async () => {
    await visitor.page.addInitScript(`(() => {
      const { setTimeout: start } = window;
      window.expirations = [];
      window.setTimeout = (run, ms, ...more) =>
        ms > 600_000 ? window.expirations.push(run) : start(run, ms, ...more);
    })()`);
    await visitor.page.reload();
    await createAccount(visitor);
    await open(visitor, 'Security');
    await visitor.press('Show or print the key');
    await visitor.page.getByLabel('Your device key').waitFor();
    await visitor.page.evaluate(`(() => {
      const later = Date.now() + 901_000;
      Date.now = () => later;
      window.expirations.forEach((run) => run());
    })()`);
    await visitor.page.getByLabel('Your device key').waitFor({ state: 'detached' });
    await sees('Enter your key above first.');
  });

  it('is forgotten at sign-out, in every tab', async () => {
    await keepKeyForAllTabs();
    const other = { ...visitor, page: await visitor.page.context().newPage() };
    await other.page.goto(`${address}#notifications`);
    await seesIn(other, 'Your passkey opens it.');
    await visitor.press('Sign out');
    await seesSignIn(visitor);
    await seesSignIn(other);
    expect(await isKept()).toBe(false);
    await other.page.close();
  });

  it('is forgotten at once when another device ends the session', async () => {
    await keepKey();
    await call(server, 'POST', '/v1/auth/logout-everywhere', { token: await tokenOf(visitor) });
    await seesSignIn(visitor);
    expect(await visitor.page.getByRole('alert').innerText()).not.toBe('');
    expect(await isKept()).toBe(false);
    await waitFor('the passkey to be deleted', async () => (await passkeys.count()) === 0);
  });

  it('is forgotten at the next visit when the session ended while the page was closed', async () => {
    await keepKey();
    const token = await tokenOf(visitor);
    await visitor.page.goto(`http://localhost:${server.port}/livez`);
    expect(await isKept()).toBe(true);
    await call(server, 'POST', '/v1/auth/logout-everywhere', { token });
    await visitor.page.goto(address);
    await seesSignIn(visitor);
    expect(await isKept()).toBe(false);
  });

  it('is forgotten when the account is disabled', async () => {
    await keepKey();
    await open(visitor, 'Overview');
    const id = await accountId(visitor);
    await runSql(server.databaseUrl, 'UPDATE account SET disabled_at = now() WHERE id = $1', [id]);
    await seesSignIn(visitor);
    expect(await visitor.page.getByRole('alert').innerText()).toContain('disabled');
    expect(await isKept()).toBe(false);
  });

  it('does not pass to the next account of the browser', async () => {
    await keepKey();
    await open(visitor, 'Overview');
    const kept = await visitor.page.evaluate<string>(
      "sessionStorage.getItem('gatehouse.kept-key')",
    );
    await visitor.press('Sign out');
    await seesSignIn(visitor);
    await visitor.page.evaluate(
      `sessionStorage.setItem('gatehouse.kept-key', ${JSON.stringify(kept)})`,
    );
    await createAccount(visitor);
    expect(await isKept()).toBe(false);
  });

  it('is not stored where the passkey computes no secret', async () => {
    // Its own context: an authenticator stays with the page.
    const person = await visit(address, {});
    const plain = await addAuthenticator(person.page, { hasPrf: false });
    await createAccount(person);
    await open(person, 'Security');
    await person.press(KEEP);
    await seesIn(person, 'This passkey cannot encrypt a key.');
    await waitFor('the passkey to be deleted', async () => (await plain.count()) === 0);
    expect(await person.page.evaluate("sessionStorage.getItem('gatehouse.kept-key')")).toBeNull();
  });

  it('uses a security key where the device has no passkeys', async () => {
    const person = await visit(address, {});
    await addAuthenticator(person.page, { transport: 'usb' });
    await createAccount(person);
    await open(person, 'Security');
    await seesIn(person, 'You need a security key with a PIN.');
    await person.press(KEEP);
    await seesIn(person, 'This browser keeps the key until this session ends.');
    await person.page.reload();
    await open(person, 'Notifications');
    await person.press('Open the settings');
    await person.page.getByRole('switch', { name: 'Send push notifications' }).waitFor();
  });

  it('is not offered by a browser without the PRF extension, or at an IP address', async () => {
    const { page } = visitor;
    await createAccount(visitor);
    await page.evaluate(
      'PublicKeyCredential.getClientCapabilities = () => Promise.resolve({ passkeyPlatformAuthenticator: true })',
    );
    await open(visitor, 'Security');
    await sees('This browser cannot encrypt with a passkey.');
    expect(await button(KEEP).count()).toBe(0);
    await page.goto(`${server.url}/app`);
    await createAccount(visitor);
    await open(visitor, 'Security');
    await sees('an IP address has no passkeys');
    expect(await button(KEEP).count()).toBe(0);
  });
});
