import { Client } from 'pg';
import type { Browser } from 'playwright-core';
import { hasChromium, startChromium, visit, type Visitor } from '../helpers/chromium.js';
import { call } from '../helpers/client.js';
import { IS_POSTGRES, startServer, type Server } from '../helpers/server.js';
import {
  createAccount,
  enterKey,
  open,
  sees as seesIn,
  seesAccount,
  seesSignIn,
  tokenOf,
} from './account-page-acts.js';
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

  const sees = (words: string) => seesIn(visitor, words);

  async function signIn(on: Visitor, key: string): Promise<void> {
    await enterKey(on, key);
    await seesAccount(on);
  }

  async function deleteAccount(): Promise<void> {
    await visitor.press('Delete the account…');
    await visitor.page.getByLabel('Type “delete” to confirm').fill('delete');
    await visitor.press('Delete it');
  }

  it('ends another session, which then shows the sign-in', async () => {
    const key = await createAccount(visitor);
    const other = await visit(browser, `${server.url}/app`);
    await signIn(other, key);
    const bearer = { token: await tokenOf(other) };
    await visitor.page.reload();
    await open(visitor, 'Devices and sessions');
    await sees('This device');
    await visitor.press('End the session of Chrome on Linux');
    await sees('That session has ended.');
    await seesSignIn(other);
    expect((await call(server, 'GET', '/v1/account/profile', bearer)).status).toBe(401);
    await visitor.page.getByRole('button', { name: /^End the session/ }).waitFor({
      state: 'detached',
    });
    await other.close();
  });

  (IS_POSTGRES ? it : it.skip)('asks for a new sign-in before the account is deleted', async () => {
    const key = await createAccount(visitor);
    const old = { token: await tokenOf(visitor) };
    const sql = new Client({ connectionString: server.databaseUrl ?? '' });
    await sql.connect();
    await sql.query(
      `UPDATE session SET created_at = created_at - interval '1 hour' WHERE id = $1`,
      [sessionIdOf(old.token)],
    );
    await sql.end();
    await open(visitor, 'Security');
    await deleteAccount();
    await seesSignIn(visitor);
    expect(await visitor.page.getByRole('alert').innerText()).toContain('Sign in again');
    expect((await call(server, 'GET', '/v1/account/profile', old)).status).toBe(200);
    await enterKey(visitor, key);
    await visitor.page.getByRole('heading', { name: 'Security' }).waitFor();
    await deleteAccount();
    await sees('Your account was deleted.');
    expect((await call(server, 'GET', '/v1/account/profile', old)).status).toBe(401);
  });
});
