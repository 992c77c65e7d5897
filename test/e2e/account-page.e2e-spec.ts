import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { Browser } from 'playwright-core';
import { formatDeviceKey, parseDeviceKey } from '../../src/client/crypto/key-text.js';
import { hasChromium, startChromium, visit, type Visitor } from '../helpers/chromium.js';
import { call } from '../helpers/client.js';
import { IS_POSTGRES, startServer, type Server } from '../helpers/server.js';
import { createLane } from '../helpers/server-lane.js';
import { freePort } from '../helpers/service-process.js';
import {
  accountId,
  createAccount as createIn,
  enterKey,
  open,
  overflow,
  sees as seesIn,
  seesAccount,
  seesSignIn,
  seesTabTitle,
  tokenOf,
} from './account-page-acts.js';

let server: Server;
/** Of the servers that differ from that one. */
const host = createLane();

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  await host.end();
  await server.stop();
});

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(new URL(path, server.url), { redirect: 'manual', headers });

describe('the account page, as it is served', () => {
  it.each(['/app', '/app/', '/app/oauth/okta?flow=auth&error=access_denied'])(
    'is at %s, and runs nothing but its own files',
    async (path) => {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toContain('unsafe');
    },
  );

  it('answers 304 to a client that has it', async () => {
    const etag = (await get('/app')).headers.get('etag') ?? '';
    const again = await get('/app', { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('has parts whose names change with what they hold, to be kept for good', async () => {
    const html = await (await get('/app')).text();
    const parts = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, part]) => part);
    expect(parts).toHaveLength(2);
    for (const part of parts) {
      const answer = await get(`/app/${part}`, { 'accept-encoding': 'br' });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-encoding')).toBe('br');
      expect(answer.headers.get('cache-control')).toContain('immutable');
    }
  });

  it.each(['/app/assets/', '/app/assets/..%2findex.html', '/app/assets/none.js', '/app/else'])(
    'answers %s as nothing',
    async (path) => {
      const answer = await get(path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'not-found' });
    },
  );

  it('is where the address of the server redirects to', async () => {
    const answer = await get('/');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'app/']);
  });

  it.each([
    ['it is switched off', { SERVICE_ACCOUNT_PAGE_ENABLED: 'false' }],
    ['browsers return to another web app', { SERVICE_WEBAPP_URL: 'https://app.example' }],
    ['they return to an app', { SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: 'https://app.example/o' }],
  ])('is not there where %s', async (_when, env) => {
    const without = await startServer({ host, env });
    try {
      expect((await fetch(new URL('/app', without.url))).status).toBe(404);
      expect((await fetch(new URL('/app/worker.js', without.url))).status).toBe(404);
      expect((await fetch(new URL('/', without.url))).status).toBe(404);
    } finally {
      await without.stop();
    }
  });

  it('lies below the path of the public address', async () => {
    const env = { SERVICE_PUBLIC_URL: 'https://example.com/gate/' };
    const below = await startServer({ host, env });
    try {
      const html = await (await fetch(new URL('/app', below.url))).text();
      expect(html).toContain('<base href="/gate/app/" />');
    } finally {
      await below.stop();
    }
  });
});

(hasChromium() ? describe : describe.skip)('the account page, with a device key', () => {
  let browser: Browser;
  let visitor: Visitor;
  /** A server of the test's own. */
  let started: Server | null = null;

  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    visitor = await visit(browser, `${server.url}/app`);
  });
  afterEach(async () => {
    const { browserErrors } = visitor;
    await visitor.close();
    await started?.stop();
    started = null;
    expect(browserErrors).toEqual([]);
  });

  /** The same person, at another server. */
  async function on(other: Server): Promise<Visitor> {
    started = other;
    await visitor.page.goto(`${other.url}/app`);
    return visitor;
  }

  const sees = (words: string) => seesIn(visitor, words);
  const createAccount = () => createIn(visitor);
  const signIn = (key: string) => enterKey(visitor, key);
  const token = () => tokenOf(visitor);

  it('creates no account before the key is confirmed as saved', async () => {
    await visitor.press('Create an account');
    await visitor.press('Create the account');
    expect(await visitor.page.getByRole('navigation').count()).toBe(0);
    expect(await token()).toBeUndefined();
  });

  it('lets the same key in again, to the same account', async () => {
    const key = await createAccount();
    const first = await accountId(visitor);
    const old = await token();
    await visitor.press('Sign out');
    await sees('You are signed out.');
    expect((await call(server, 'GET', '/v1/account/profile', { token: old })).status).toBe(401);
    await signIn(key);
    await seesAccount(visitor);
    expect(await accountId(visitor)).toBe(first);
  });

  it('takes the key as the command-line client keeps it', async () => {
    const d = Buffer.from(parseDeviceKey(await createAccount())).toString('base64url');
    await visitor.press('Sign out');
    await sees('You are signed out.');
    await signIn(JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: 'whatever', d }));
    await seesAccount(visitor);
  });

  it('refuses a key with a mistyped character, and one that has no account', async () => {
    const key = await createAccount();
    await visitor.press('Sign out');
    await sees('You are signed out.');
    expect(key).toMatch(/^gatekey1/);
    await signIn(`${key.slice(0, -1)}${key.endsWith('q') ? 'p' : 'q'}`);
    await sees('typing mistake');
    await signIn(formatDeviceKey(randomBytes(32)));
    await sees('This key has no account on this server.');
    expect(await token()).toBeUndefined();
  });

  it.each(['', 'no key', 'A'.repeat(42), '{"d": "short"}'])('is not moved by %j', async (key) => {
    await signIn(key);
    if (key !== '') {
      await sees('This is no device key');
    }
    expect(await token()).toBeUndefined();
  });

  it('shows devices as they come and go, and removes one', async () => {
    await createAccount();
    await open(visitor, 'Devices and sessions');
    await sees('No device gets notifications yet');
    const mine = { token: await token() };
    const pushToken = 'ExponentPushToken[abcdefghijklmnop]';
    await call(server, 'POST', '/v1/push-tokens', { ...mine, body: { token: pushToken } });
    await sees('A device');
    expect(await visitor.text()).not.toContain('ijklmnop');
    await visitor.press('Rename: A device');
    await visitor.page.getByLabel('Name', { exact: true }).fill('Pixel 9');
    await visitor.press('Save');
    await sees('The name is saved.');
    expect((await call(server, 'GET', '/v1/push-tokens', mine)).body).toMatchObject({
      tokens: [{ token: pushToken, name: 'Pixel 9' }],
    });
    await visitor.press('Remove: Pixel 9');
    await sees('gets no more notifications');
    const left = await call(server, 'GET', '/v1/push-tokens', mine);
    expect(left.body['tokens']).toEqual([]);
  });

  it('shows a device that came before it was connected for updates', async () => {
    let connect: () => void = () => undefined;
    const mayConnect = new Promise<void>((done) => (connect = done));
    await visitor.page.routeWebSocket('**', (socket) => {
      void mayConnect.then(() => socket.connectToServer());
    });
    await visitor.page.reload();
    await createAccount();
    await open(visitor, 'Devices and sessions');
    await sees('No device gets notifications yet');
    const body = { token: 'ExponentPushToken[abcdefghijklmnop]' };
    await call(server, 'POST', '/v1/push-tokens', { token: await token(), body });
    connect();
    await sees('A device');
  });

  it('shows the sign-in when the account is signed out elsewhere', async () => {
    await createAccount();
    await call(server, 'POST', '/v1/auth/logout-everywhere', { token: await token() });
    await seesSignIn(visitor);
    expect(await visitor.page.getByRole('alert').innerText()).not.toBe('');
  });

  it('shows the sign-in when the session ended during the sign-out', async () => {
    await createAccount();
    const bearer = { token: await token() };
    await visitor.page.route('**/v1/auth/logout', async (route) => {
      await call(server, 'POST', '/v1/auth/logout-everywhere', bearer);
      await route.continue();
    });
    await visitor.press('Sign out');
    await seesSignIn(visitor);
  });

  (IS_POSTGRES ? it : it.skip)('shows the sign-in when the account was disabled', async () => {
    await createAccount();
    const id = await accountId(visitor);
    const sql = new Client({ connectionString: server.databaseUrl ?? '' });
    await sql.connect();
    await sql.query('UPDATE account SET disabled_at = now() WHERE id = $1', [id]);
    await sql.end();
    await seesSignIn(visitor);
    expect(await visitor.page.getByRole('alert').innerText()).toContain('disabled');
  });

  it('deletes the account only after the word was typed', async () => {
    await createAccount();
    const mine = { token: await token() };
    await open(visitor, 'Security');
    await visitor.press('Delete the account…');
    expect(await visitor.page.getByRole('button', { name: 'Delete it' }).isDisabled()).toBe(true);
    await visitor.press('Keep it');
    expect((await call(server, 'GET', '/v1/account/profile', mine)).status).toBe(200);
    await visitor.press('Delete the account…');
    await visitor.page.getByLabel('Type “delete” to confirm').fill('delete');
    await visitor.press('Delete it');
    await sees('Your account was deleted.');
    expect((await call(server, 'GET', '/v1/account/profile', mine)).status).toBe(401);
  });

  it('keeps the session on a reload, and drops it with the tab', async () => {
    await createAccount();
    await visitor.page.reload();
    await seesAccount(visitor);
    const other = await visitor.page.context().newPage();
    await other.goto(`${server.url}/app`);
    await other.getByRole('heading', { name: 'Sign in to' }).waitFor();
  });

  it('has an address for each section, for links, back and forward', async () => {
    await createAccount();
    await open(visitor, 'Security');
    expect(visitor.page.url()).toBe(`${server.url}/app/#security`);
    await visitor.page.reload();
    const heading = (name: string) => visitor.page.getByRole('heading', { level: 1, name });
    await heading('Security').waitFor();
    await open(visitor, 'Devices and sessions');
    await visitor.page.locator('h1:focus', { hasText: 'Devices and sessions' }).waitFor();
    await visitor.page.goBack();
    await heading('Security').waitFor();
    await visitor.page.goForward();
    await heading('Devices and sessions').waitFor();
    await seesTabTitle(visitor, 'Devices and sessions · Gatehouse');
  });

  it('speaks the language of the browser, or the one that was chosen', async () => {
    const german = await visit(browser, `${server.url}/app`, { locale: 'de-AT' });
    const { page } = german;
    await page.getByRole('heading', { name: 'Bei Gatehouse anmelden' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    await page.getByLabel('Geräteschlüssel', { exact: true }).fill('gatekey1nonsense');
    await german.press('Anmelden');
    await seesIn(german, 'enthält einen Tippfehler');
    await page.getByLabel('Sprache').selectOption('English');
    await seesSignIn(german);
    expect(await page.getByLabel('Device key', { exact: true }).inputValue()).not.toBe('');
    await page.reload();
    await seesSignIn(german);
    expect(german.browserErrors).toEqual([]);
    await german.close();
  });

  it('prints the key and nothing else', async () => {
    const { page } = visitor;
    await visitor.press('Create an account');
    const key = await page.getByLabel('Your new device key').inputValue();
    expect(await visitor.text()).not.toContain(key);
    await page.emulateMedia({ media: 'print' });
    const printed = (await visitor.text()).replaceAll('\n', '');
    expect(printed).toContain(key);
    expect(printed).not.toContain('Create the account');
    await page.emulateMedia({ media: 'screen' });
  });

  it.each([320, 390])('fits a phone of %d pixels', async (width) => {
    await visitor.page.setViewportSize({ width, height: 700 });
    await visitor.press('Create an account');
    await visitor.press('Show');
    expect(await overflow(visitor)).toBe(0);
    await visitor.press('Back');
    await createAccount();
    expect(await overflow(visitor)).toBe(0);
  });

  it('says what is wrong while the server is away, and goes on after', async () => {
    const fragile = await startServer({ env: { PORT: String(await freePort()) } });
    const { page } = await on(fragile);
    await page.getByLabel('Device key', { exact: true }).fill('A'.repeat(43));
    await fragile.kill('SIGKILL');
    await visitor.press('Sign in');
    await sees('The server does not answer.');
    started = await fragile.restart();
    await visitor.press('Sign in');
    await sees('This key has no account on this server.');
  });

  it('selects a key that the browser does not let it copy', async () => {
    const { page } = visitor;
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await visitor.press('Create an account');
    const key = await page.getByLabel('Your new device key').inputValue();
    await visitor.press('Copy');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.evaluate('document.execCommand = () => { throw new Error(); }');
    await visitor.press('Copied');
    await sees('The text is selected: copy it yourself.');
    expect(await page.evaluate('String(getSelection())')).toBe(key);
  });

  it('asks for https where a browser would make no keys', async () => {
    await visitor.page.goto(`http://gate.example:${server.port}/app`);
    await sees('Open this page over https');
  });

  it('shows no method that the server does not offer', async () => {
    const { page } = await on(
      await startServer({ host, env: { AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false' } }),
    );
    await sees('Only keys that already have an account can sign in.');
    await page.evaluate("location.hash = '#invitation=7MZK-Q0TD-9WHN-3RXB-VC06'");
    await sees('This server accepts no invitations.');
    expect(await page.getByRole('button', { name: 'Create an account' }).count()).toBe(0);
    await page.getByLabel('Device key', { exact: true }).fill('A'.repeat(43));
    await visitor.press('Sign in');
    await page.getByRole('alert').getByText(/.+/).waitFor();
    expect(await token()).toBeUndefined();
  });
});
