import { randomBytes } from 'node:crypto';
import {
  formatDeviceKey,
  parseDeviceKey,
} from '../../../../src/packages/client/crypto/key-text.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { call } from '../../../helpers/client.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { freePort } from '../../../fixtures/programs/service-process.js';
import {
  accountId,
  askToDelete,
  createAccount as createIn,
  enterKey,
  open,
  overflow,
  sees as seesIn,
  seesAccount,
  seesSignIn,
  seesTabTitle,
  tokenOf,
} from '../account-page-acts.js';
import { waitFor } from '../../../helpers/wait.js';

const server = await startServer();
afterAll(async () => {
  await server.stop();
});

const visit = useChromium();

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(new URL(path, server.url), { redirect: 'manual', headers });

describe('the account page, as it is served', () => {
  it.each(['/app', '/app/', '/app/oauth/okta?flow=auth&error=access_denied'])(
    'serves the page at %s, which may run only its own files',
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

  it('answers 304 to a client that has the page', async () => {
    const etag = (await get('/app')).headers.get('etag') ?? '';
    const again = await get('/app', { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('names its assets after their content, so that they can be cached for good', async () => {
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

  it.each([
    ...['/app/assets/', '/app/assets/..%2findex.html', '/app/assets/..%5cindex.html'],
    ...['/app/assets/.%2f..%2findex.html', '/app/assets/%00', '/app/assets/none.js', '/app/else'],
  ])('answers %s with 404', async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: 'not-found' });
  });

  it('is an app of its own on the Home Screen of an iPhone', async () => {
    const page = await get('/app');
    expect(page.headers.get('content-security-policy')).toContain("manifest-src 'self'");
    const [, href = ''] = /<link rel="manifest" href="([^"]+)"/.exec(await page.text()) ?? [];
    const answer = await get(`/app/${href}`);
    expect(answer.headers.get('content-type')).toContain('application/manifest+json');
    const { display, start_url: start } = (await answer.json()) as Record<string, string>;
    expect(display).toBe('standalone');
    expect(new URL(start ?? '', answer.url).pathname).toBe('/app/');
  });

  it('serves a worker that may load nothing, the only one that the page may run', async () => {
    const answer = await get('/app/worker.js');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/self|unsafe|https?:/);
    expect(await answer.text()).toMatch(/^const REQUEST_URL=null;\n/);
    const ofPage = (await get('/app')).headers.get('content-security-policy') ?? '';
    expect(ofPage).toContain("worker-src 'self'");
    expect(ofPage).toMatch(/trusted-types gatehouse-worker(;|$)/);
  });

  it('redirects the root of the server to the page', async () => {
    const answer = await get('/');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'app/']);
  });

  it('serves no page where it is switched off', async () => {
    const without = await startServer({ env: { SERVICE_ACCOUNT_PAGE_ENABLED: 'false' } });
    try {
      for (const path of ['/app', '/app/worker.js', '/']) {
        expect((await fetch(new URL(path, without.url))).status).toBe(404);
      }
    } finally {
      await without.stop();
    }
  });

  it('serves the page below the path of the public address', async () => {
    const env = { SERVICE_PUBLIC_URL: 'https://example.com/gate/' };
    const below = await startServer({ env });
    try {
      const html = await (await fetch(new URL('/app', below.url))).text();
      expect(html).toContain('<base href="/gate/app/" />');
    } finally {
      await below.stop();
    }
  });
});

inChromium('the account page, with a device key', () => {
  let visitor: Visitor;
  let started: Server | null = null;

  beforeEach(async () => {
    visitor = await visit(`${server.url}/app`);
  });
  afterEach(async () => {
    await started?.stop();
    started = null;
  });

  /** Opens another server as the same person. */
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

  it('asks before it is left with a new key that is not saved', async () => {
    const { page } = visitor;
    await visitor.press('Create an account');
    await page.getByLabel('Your new device key').waitFor();
    const asked = page.waitForEvent('dialog');
    const left = page.reload().catch(() => undefined);
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.accept();
    await left;
    await visitor.press('Create an account');
    await page.getByLabel('I saved the key').check();
    await page.reload();
    await seesSignIn(visitor);
  });

  it('creates an account with a saved key that has none', async () => {
    const { page } = visitor;
    await visitor.press('Create an account');
    const key = await page.getByLabel('Your new device key').inputValue();
    await page.goBack();
    await seesSignIn(visitor);
    await signIn(key);
    await sees('This key has no account on this server.');
    await visitor.press('Create an account with this key');
    await sees('Your account is ready.');
    await visitor.press('Sign out');
    await signIn(key);
    await seesAccount(visitor);
  });

  it('signs in again with the key in the format of the command-line client, to the same account', async () => {
    const key = await createAccount();
    const first = await accountId(visitor);
    const old = await token();
    await visitor.press('Sign out');
    await sees('You are signed out.');
    expect((await call(server, 'GET', '/v1/account/profile', { token: old })).status).toBe(401);
    const d = Buffer.from(parseDeviceKey(key)).toString('base64url');
    await signIn(JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: 'whatever', d }));
    await seesAccount(visitor);
    expect(await accountId(visitor)).toBe(first);
  });

  it('refuses a key with a mistyped character, any other text, and a key that has no account', async () => {
    const key = await createAccount();
    await visitor.press('Sign out');
    await sees('You are signed out.');
    expect(key).toMatch(/^gatekey1/);
    await signIn(`${key.slice(0, -1)}${key.endsWith('q') ? 'p' : 'q'}`);
    await sees('typing mistake');
    await signIn('no key');
    await sees("This isn't a device key");
    await signIn(formatDeviceKey(randomBytes(32)));
    await sees('This key has no account on this server.');
    expect(await token()).toBeUndefined();
  });

  it('shows devices as they are added and removed, and removes one', async () => {
    await createAccount();
    await open(visitor, 'Devices and sessions');
    await sees('No device gets notifications yet');
    const mine = { token: await token() };
    const pushToken = 'ExponentPushToken[abcdefghijklmnop]';
    await call(server, 'POST', '/v1/push-tokens', { ...mine, body: { token: pushToken } });
    await sees('A device');
    expect(await visitor.text()).not.toContain('ijklmnop');
    await visitor.press('Rename: A device');
    await visitor.page.getByRole('dialog').getByLabel('Name').fill('Pixel 9');
    await visitor.press('Save');
    await sees('The name is saved.');
    expect((await call(server, 'GET', '/v1/push-tokens', mine)).body).toMatchObject({
      tokens: [{ token: pushToken, name: 'Pixel 9' }],
    });
    await visitor.press('Remove: Pixel 9');
    await sees('gets no more notifications');
    const left = await call(server, 'GET', '/v1/push-tokens', mine);
    expect(left.body['tokens']).toEqual([]);
    await visitor.page.evaluate("location.hash = '#overview'");
    await seesAccount(visitor);
    expect(await visitor.text()).not.toContain('gets no more notifications');
  });

  it('shows a device that was added before live updates were connected', async () => {
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

  it('deletes the account only after the word was typed', async () => {
    await createAccount();
    const mine = { token: await token() };
    await open(visitor, 'Security');
    await askToDelete(visitor);
    expect(await visitor.page.getByRole('button', { name: 'Delete it' }).isDisabled()).toBe(true);
    await visitor.page.getByLabel('Type “delete” to confirm').fill('delete');
    await visitor.press('Keep it');
    expect((await call(server, 'GET', '/v1/account/profile', mine)).status).toBe(200);
    await askToDelete(visitor);
    expect(await visitor.page.getByLabel('Type “delete” to confirm').inputValue()).toBe('');
    expect(await visitor.page.getByRole('button', { name: 'Delete it' }).isDisabled()).toBe(true);
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

  it('gives each section an address for links, back and forward', async () => {
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

  it('uses the language of the browser, or the one that was chosen', async () => {
    const german = await visit(`${server.url}/app`, { locale: 'de-AT' });
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
  });

  it('prints the key and nothing else, also on half a page', async () => {
    const { page } = visitor;
    await visitor.press('Create an account');
    const key = await page.getByLabel('Your new device key').inputValue();
    expect(await visitor.text()).not.toContain(key);
    await page.evaluate('window.print = () => document.body.classList.add("printed")');
    await visitor.press('Print');
    await page.locator('body.printed').waitFor();
    await page.emulateMedia({ media: 'print' });
    const printed = (await visitor.text()).replaceAll('\n', '');
    expect(printed).toContain(key);
    expect(printed).toContain(page.url());
    expect(printed).toContain(`gatehouse key restore --server ${server.url}`);
    expect(printed).not.toContain('Create the account');
    expect(await page.locator('.sheet .mark').isVisible()).toBe(true);
    const width = await page.locator('.sheet').evaluate((sheet) => sheet.clientWidth);
    expect(width).toBeGreaterThan((page.viewportSize()?.width ?? 0) - 50);
    const sheet = (await page.pdf({ format: 'A5' })).toString('latin1');
    expect(sheet.match(/\/Type ?\/Page\b/g)).toHaveLength(1);
    await page.emulateMedia({ media: 'screen' });
  });

  it('fits a phone of 320 pixels', async () => {
    await visitor.page.setViewportSize({ width: 320, height: 700 });
    await visitor.press('Create an account');
    await visitor.press('Show');
    expect(await overflow(visitor)).toBe(0);
    await visitor.press('Back');
    await createAccount();
    expect(await overflow(visitor)).toBe(0);
  });

  it('reports that the server is unavailable, and recovers', async () => {
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

  it('selects a key that the browser cannot copy', async () => {
    const { page } = visitor;
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await visitor.press('Create an account');
    const key = await page.getByLabel('Your new device key').inputValue();
    await visitor.press('Copy');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.evaluate('document.execCommand = () => { throw new Error(); }');
    await visitor.press('Copied');
    await sees('The text is selected: copy it yourself.');
    const selection = () => page.evaluate('String(getSelection())');
    await waitFor('the selection', async () => (await selection()) === key);
  });

  it('requires https where a browser cannot create keys', async () => {
    await visitor.page.goto(`http://gate.example:${server.port}/app`);
    await sees('Open this page over https');
  });

  it('shows only the methods that the server offers', async () => {
    const { page } = await on(
      await startServer({ env: { AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false' } }),
    );
    await sees('Only keys that already have an account can sign in.');
    await page.evaluate("location.hash = '#invitation=7MZK-Q0TD-9WHN-3RXB-VC06'");
    await sees('This server accepts no invitations.');
    expect(await page.getByRole('button', { name: 'Create an account' }).count()).toBe(0);
    await page.getByLabel('Device key', { exact: true }).fill('A'.repeat(43));
    await visitor.press('Sign in');
    await sees('This key has no account on this server.');
    expect(await token()).toBeUndefined();
  });
});
