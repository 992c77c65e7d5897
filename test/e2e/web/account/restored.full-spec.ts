import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import {
  inChromium,
  startProfile,
  visitorAt,
  visitIn,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import { createAccount, open, sees, seesAccount, tokenOf } from '../account-page-acts.js';

inChromium('the account page that the Back button shows again', () => {
  let directory: string;
  let server: Server;
  let browser: BrowserContext;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-restored-'));
    server = await startServer();
    // The shell of Chromium keeps no page with an open connection.
    browser = await startProfile(directory, {}, ['--disable-back-forward-cache']);
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
    await rm(directory, { recursive: true });
  });

  it('is loaded again, and so has no key of a session that ended meanwhile', async () => {
    const visitor = await visitIn(browser, `${server.url}/app/`);
    const { page } = visitor;
    await page.addInitScript("addEventListener('pageshow', (e) => e.persisted && shown())");
    const shown = new Promise<void>((resolve) => void page.exposeFunction('shown', resolve));
    await page.reload();
    await createAccount(visitor);
    const token = await tokenOf(visitor);
    await open(visitor, 'Security');
    await visitor.press('Show or print the key');
    const key = page.getByLabel('Your device key');
    expect(await key.inputValue()).toMatch(/^gatekey1/);
    await page.goto(server.url.replace('127.0.0.1', 'other.example') + '/v1/features');
    const ended = await call(server, 'POST', '/v1/auth/logout', { token });
    expect(ended.status).toBe(200);
    await page.route('**/v1/**', (route) => route.abort());
    await page.evaluate('history.back()');
    await shown;
    await sees(visitor, 'The server does not answer.');
    await sees(visitor, 'One moment');
    expect(await key.count()).toBe(0);
  });
});

inChromium('the account page in a browser that opens its last tabs again', () => {
  it('has its session again, because of which the sign-in asks to sign out', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-restored-'));
    await mkdir(join(directory, 'Default'));
    const preferences = { session: { restore_on_startup: 1 } };
    await writeFile(join(directory, 'Default', 'Preferences'), JSON.stringify(preferences));
    const server = await startServer();
    const first = await startProfile(directory, {}, ['about:blank']);
    const visitor = await visitIn(first, `${server.url}/app/`);
    await sees(visitor, 'Elsewhere, sign out when you leave');
    await createAccount(visitor);
    await first.close();
    const second = await startProfile(directory, {}, ['about:blank']);
    const restored = await waitFor('the tab', () =>
      second.pages().find((page) => page.url().startsWith(server.url)),
    );
    await seesAccount(visitorAt(restored));
    await second.close();
    await server.stop();
    await rm(directory, { recursive: true });
  });
});
