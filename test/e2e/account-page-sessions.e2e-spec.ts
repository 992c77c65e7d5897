import { Client } from 'pg';
import type { Browser } from 'playwright-core';
import { hasChromium, startChromium, visit, type Visitor } from '../helpers/chromium.js';
import { call } from '../helpers/client.js';
import { IS_POSTGRES, startServer, type Server } from '../helpers/server.js';
import { sessionIdOf } from './sessions-world.js';

(hasChromium() ? describe : describe.skip)('the account page and its sessions', () => {
  let server: Server;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    [server, browser] = await Promise.all([
      startServer({ env: { AUTH_ACCESS_CACHE_SECONDS: '0' } }),
      startChromium(),
    ]);
  });
  beforeEach(async () => {
    visitor = await visit(browser, `${server.url}/app`);
  });
  afterEach(async () => {
    const { browserErrors } = visitor;
    await visitor.close();
    expect(browserErrors).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  const sees = (words: string) => visitor.page.getByText(words).first().waitFor();

  async function createAccount(): Promise<string> {
    await visitor.page.getByText('Create an account').click();
    const key = await visitor.page.getByLabel('Your new device key').inputValue();
    await visitor.page.getByLabel('I saved the key').check();
    await visitor.press('Create the account');
    await sees('Your account is ready.');
    return key;
  }

  async function signIn(on: Visitor, key: string): Promise<void> {
    await on.page.getByLabel('Device key', { exact: true }).fill(key);
    await on.press('Sign in');
    await on.page.getByRole('heading', { name: 'Signed in' }).waitFor();
  }

  async function token(on: Visitor): Promise<string> {
    const kept = await on.page.evaluate("sessionStorage.getItem('gatehouse.session')");
    return (JSON.parse(typeof kept === 'string' ? kept : '{}') as { token: string }).token;
  }

  it('ends another session, which then shows the sign-in', async () => {
    const key = await createAccount();
    const other = await visit(browser, `${server.url}/app`);
    await signIn(other, key);
    const bearer = { token: await token(other) };
    await visitor.page.reload();
    await sees('This page');
    await visitor.press('End');
    await sees('That session has ended.');
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await call(server, 'GET', '/v1/account/profile', bearer)).status).toBe(401);
    await visitor.page.getByRole('button', { name: 'End', exact: true }).waitFor({
      state: 'detached',
    });
    await other.close();
  });

  (IS_POSTGRES ? it : it.skip)('asks for a new sign-in before the account is deleted', async () => {
    const key = await createAccount();
    const old = { token: await token(visitor) };
    const sql = new Client({ connectionString: server.databaseUrl ?? '' });
    await sql.connect();
    await sql.query(
      `UPDATE session SET created_at = created_at - interval '1 hour' WHERE id = $1`,
      [sessionIdOf(old.token)],
    );
    await sql.end();
    await visitor.press('Delete the account…');
    await visitor.press('Delete it');
    await visitor.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await visitor.page.getByRole('alert').innerText()).toContain('Log in again');
    expect((await call(server, 'GET', '/v1/account/profile', old)).status).toBe(200);
    await signIn(visitor, key);
    await visitor.press('Delete the account…');
    await visitor.press('Delete it');
    await sees('Your account was deleted.');
    expect((await call(server, 'GET', '/v1/account/profile', old)).status).toBe(401);
  });
});
