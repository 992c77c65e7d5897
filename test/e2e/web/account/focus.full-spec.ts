import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { call } from '../../../helpers/client.js';
import {
  createAccount,
  enterKey,
  open,
  seesAccount,
  tokenOf,
  type SectionName,
} from '../account-page-acts.js';
import { openRequests, signUpAsker } from '../request-page-acts.js';

/** More than a page has; a walk ends after it. */
const MAX_STEPS = 40;

/** The name of the focused element; with a fault where it cannot be seen. The body is where a round ends. */
const DESCRIBE_FOCUS = `(() => {
  const focused = document.activeElement;
  if (focused === document.body) {
    return 'end';
  }
  const name = (focused.ariaLabel ?? focused.labels?.[0]?.innerText ?? focused.innerText).trim();
  const { left, top, width, height } = focused.getBoundingClientRect();
  const above = document.elementFromPoint(left + width / 2, top + height / 2);
  const isSeen = focused.contains(above) && getComputedStyle(focused).outlineStyle !== 'none';
  return name.split('\\n')[0] + (isSeen ? '' : ' (not seen)');
})()`;

const server = await startServer();
afterAll(() => server.stop());
const visit = useChromium();

inChromium('the keyboard focus on the account page', () => {
  let visitor: Visitor;

  async function prepare(): Promise<void> {
    visitor = await visit(`${server.url}/app`);
    const key = await createAccount(visitor);
    const other = await visit(`${server.url}/app`);
    await enterKey(other, key);
    await seesAccount(other);
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

  it('goes to the heading of what replaces a button', async () => {
    visitor = await visit(`${server.url}/app`);
    await press('Use a signed-in device');
    await focused('h1', 'Use a signed-in device');
    await press('Cancel');
    await focused('h1', 'Sign in to');
  });

  /** Presses the key until the focus leaves the page. @returns the names on the way */
  async function walk(key: 'Tab' | 'Shift+Tab'): Promise<readonly string[]> {
    const names: string[] = [];
    for (let step = 0; step < MAX_STEPS; step += 1) {
      await visitor.page.keyboard.press(key);
      const name = await visitor.page.evaluate<string>(DESCRIBE_FOCUS);
      if (name === 'end') {
        return names;
      }
      names.push(name);
    }
    throw new Error(`The focus stays on the page: ${names.join(', ')}`);
  }

  const link = (name: string) => visitor.page.getByRole('link', { name }).first();

  it('passes through a request in its order on a phone, and follows what opens', async () => {
    visitor = await visit(`${server.url}/app`);
    const { page } = visitor;
    await page.setViewportSize({ width: 360, height: 640 });
    const { asker } = await signUpAsker(visitor, server);
    const options = Array.from({ length: 9 }, (_none, index) => ({
      ...{ id: String(index), label: `Option ${index}`, description: 'Words of the agent.' },
    }));
    const question = { id: 'q', text: 'Which?', multiple: true, custom: true, options };
    const asked = await asker.ask({ tool: { name: 'Bash', input: { command: 'npm test' } } });
    await asker.ask({ kind: 'user_action', questions: [question] });
    await openRequests(visitor);
    // The page gives the focus back where a change takes it away, so that all is there before a walk.
    await page.getByLabel('2 waiting').waitFor();
    await link('Which?').waitFor();
    await link('npm test').focus();
    await page.keyboard.press('Enter');
    await focused('h2', 'May this run?');
    expect(await walk('Tab')).toEqual(['Deny', 'Allow']);
    await page.getByRole('button', { name: 'Allow' }).focus();
    expect((await walk('Shift+Tab')).slice(0, 2)).toEqual(['Deny', 'All requests']);
    await page.keyboard.press('Escape');
    await link('All requests').focus();
    await page.keyboard.press('Enter');
    await focused('a', 'npm test');
    await link('Which?').focus();
    await page.keyboard.press('Enter');
    await focused('h2', 'A question for you');
    expect(await walk('Tab')).toEqual([
      ...options.map(({ label }) => label),
      ...['Or your own answer', 'Send the answer', 'Do not answer'],
    ]);
    await page.goBack();
    await focused('a', 'Which?');
    await link('npm test').focus();
    await page.keyboard.press('Enter');
    await focused('h2', 'May this run?');
    const allow = page.getByRole('button', { name: 'Allow' });
    await allow.focus();
    await page.keyboard.press('Enter');
    await allow.waitFor({ state: 'detached' });
    await focused('h2', 'May this run?');
    expect((await asker.judge(asked)).decision).toMatchObject({ choice: 'allow', isSigned: true });
  });

  it('stays where a person moved it as the list of requests appeared', async () => {
    visitor = await visit(`${server.url}/app`);
    const { page } = visitor;
    const { asker } = await signUpAsker(visitor, server);
    await asker.ask({ tool: { name: 'Bash', input: { command: 'npm test' } } });
    await asker.ask({ tool: { name: 'Bash', input: { command: 'npm ci' } } });
    await openRequests(visitor);
    await link('npm ci').waitFor();
    await link('npm test').click();
    await focused('h2', 'May this run?');
    await page.evaluate(`new MutationObserver((_all, observer) => {
      const other = [...document.querySelectorAll('a')].find((one) => one.textContent.startsWith('npm ci'));
      if (other !== undefined) {
        observer.disconnect();
        other.focus();
      }
    }).observe(document.body, { subtree: true, childList: true })`);
    await link('All requests').click();
    await focused('a', 'npm ci');
    // Effects of the page run once it is painted.
    await page.evaluate(`new Promise((done) =>
      requestAnimationFrame(() => setTimeout(done, 100)))`);
    expect(await page.evaluate('document.activeElement.innerText')).toContain('npm ci');
  });
});

inChromium('the account page in the colours of a high-contrast theme', () => {
  it('marks the section that it shows', async () => {
    const visitor = await visit(`${server.url}/app`, { forcedColors: 'active' });
    await createAccount(visitor);
    const colours = (selector: string) =>
      visitor.page.evaluate(
        `[...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one).color)`,
      );
    const [current] = (await colours('nav [aria-current]')) as string[];
    expect(current).toMatch(/^rgb/);
    expect(await colours('nav a:not([aria-current])')).not.toContain(current);
  });

  it('shows the tick of a switch', async () => {
    const visitor = await visit(`${server.url}/app`, { forcedColors: 'active' });
    await createAccount(visitor);
    await open(visitor, 'Notifications');
    const all = visitor.page.getByRole('switch', { name: 'Send push notifications' });
    expect(await all.isChecked()).toBe(true);
    const thumb = `getComputedStyle(document.querySelector('[role=switch]'), '::before').content`;
    expect(await visitor.page.evaluate(thumb)).toBe('none');
  });
});
