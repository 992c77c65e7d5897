import type { Browser } from 'playwright-core';
import {
  hasChromium,
  startChromium,
  visit,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { call } from '../../../helpers/client.js';
import {
  createAccount,
  enterKey,
  open,
  seesAccount,
  tokenOf,
  type SectionName,
} from '../account-page-acts.js';

(hasChromium() ? describe : describe.skip)('the keyboard focus on the account page', () => {
  let server: Server;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), startChromium()]);
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

  async function prepare(): Promise<void> {
    visitor = await visit(browser, `${server.url}/app`);
    const key = await createAccount(visitor);
    const other = await visit(browser, `${server.url}/app`);
    await enterKey(other, key);
    await seesAccount(other);
    await other.close();
    const body = { token: 'ExponentPushToken[abcdefghijklmnop]', name: 'Pixel 9' };
    await call(server, 'POST', '/v1/push-tokens', { token: await tokenOf(visitor), body });
    await open(visitor, 'Notifications');
    await press('Add a webhook');
    const dialog = visitor.page.getByRole('dialog');
    await dialog.getByLabel('Address').fill('https://hooks.example/a');
    await dialog.getByRole('button', { name: 'Add a webhook' }).click();
    await visitor.page.getByText('It is shown only now.').first().waitFor();
  }

  const button = (name: string) => visitor.page.getByRole('button', { name, exact: true });

  async function press(name: string): Promise<void> {
    await button(name).first().focus();
    await visitor.page.keyboard.press('Enter');
  }

  const focused = (selector: string, text: string) =>
    visitor.page.locator(`${selector}:focus`, { hasText: text }).waitFor();

  const DIALOGS: readonly (readonly [SectionName, string])[] = [
    ['Devices and sessions', 'Sign out everywhere…'],
    ['Devices and sessions', 'Rename: Chrome on Linux'],
    ['Devices and sessions', 'Test… Pixel 9'],
    ['Devices and sessions', 'Rename: Pixel 9'],
    ['Notifications', 'Add a webhook'],
    ['Notifications', 'Preview and test: hooks.example/a'],
    ['Notifications', 'Change: hooks.example/a'],
    ['Notifications', 'Signing: hooks.example/a'],
    ['Notifications', 'Remove: hooks.example/a'],
    ['Security', 'Sign out everywhere…'],
    ['Security', 'Delete the account…'],
  ];

  it('enters each dialog, stays in it and returns to its button', async () => {
    await prepare();
    for (const [section, name] of DIALOGS) {
      await open(visitor, section);
      await press(name);
      await visitor.page.locator('dialog[open] :focus').waitFor();
      await visitor.page.keyboard.press('Escape');
      await visitor.page.locator('dialog[open]').waitFor({ state: 'detached' });
      const label = await visitor.page.evaluate<string>(
        "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent",
      );
      expect(label).toBe(name);
    }
  });

  it('stays with a button that was disabled for a moment, or goes to the heading', async () => {
    await prepare();
    await open(visitor, 'Devices and sessions');
    await press('Rename: Pixel 9');
    await visitor.page.getByRole('dialog').getByLabel('Name').fill('Phone');
    await visitor.page.keyboard.press('Enter');
    await visitor.page.locator('button:focus[aria-label="Rename: Phone"]').waitFor();
    await press('End the session of Chrome on Linux');
    await focused('h2', 'Sessions');
    await press('Remove: Phone');
    await focused('h2', 'Devices that get notifications');
    await open(visitor, 'Notifications');
    await press('Remove: hooks.example/a');
    await visitor.page.keyboard.press('Tab');
    await visitor.page.keyboard.press('Enter');
    await focused('h2', 'Webhooks');
  });
});
