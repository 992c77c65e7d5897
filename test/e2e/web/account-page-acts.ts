import type { Visitor } from '../../fixtures/programs/browser-fixture.js';
import { waitFor } from '../../helpers/wait.js';

export type SectionName = 'Overview' | 'Devices and sessions' | 'Notifications' | 'Security';

/** A script that takes the storage from a page, as Chromium does with all cookies blocked. */
export const BLOCKED_STORAGE = `for (const name of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, name, { get() { throw new DOMException('', 'SecurityError'); } });
}`;

export async function sees({ page }: Visitor, words: string | RegExp): Promise<void> {
  await page.getByText(words).first().waitFor();
}

export async function seesSignIn({ page }: Visitor): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in to' }).waitFor();
}

export async function seesAccount({ page }: Visitor): Promise<void> {
  await page.getByRole('navigation', { name: 'Account' }).waitFor();
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
}

export async function seesTabTitle({ page }: Visitor, title: string): Promise<void> {
  await waitFor(`the title ${title}`, async () => (await page.title()) === title);
}

export async function open({ page }: Visitor, section: SectionName): Promise<void> {
  const tabs = page.getByRole('navigation', { name: 'Account' });
  await tabs.getByRole('link', { name: section, exact: true }).click();
  const heading = section === 'Overview' ? 'Your account' : section;
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
}

/** Creates an account with a new key. @returns the key */
export async function createAccount(visitor: Visitor): Promise<string> {
  await visitor.press('Create an account');
  return saveNewKey(visitor);
}

/** Confirms a new key as saved, and creates its account. @returns the key */
export async function saveNewKey(visitor: Visitor): Promise<string> {
  const { page } = visitor;
  const key = await page.getByLabel('Your new device key').inputValue();
  await page.getByLabel('I saved the key').check();
  await visitor.press('Create the account');
  await sees(visitor, 'Your account is ready.');
  await seesAccount(visitor);
  return key;
}

/** Opens the question in the section Security. */
export async function askToDelete(visitor: Visitor): Promise<void> {
  // A part above the button is loaded later. A button that moves under a press is not pressed.
  await visitor.page.getByRole('heading', { name: 'Key on this device' }).waitFor();
  await visitor.press('Delete the account…');
}

export async function enterKey(visitor: Visitor, key: string): Promise<void> {
  await visitor.page.getByLabel('Device key', { exact: true }).fill(key);
  await visitor.press('Sign in');
}

export async function accountId(visitor: Visitor): Promise<string> {
  const details = visitor.page.getByRole('region', { name: 'Details' });
  return details.locator('dd .code').first().innerText();
}

/** The token of this tab, as the page keeps it; undefined where it is signed out. */
export async function tokenOf({ page }: Visitor): Promise<string> {
  const kept = await page.evaluate(
    "sessionStorage.getItem('gatehouse.session') ?? localStorage.getItem('gatehouse.session')",
  );
  return (JSON.parse(typeof kept === 'string' ? kept : '{}') as { token: string }).token;
}

export async function overflow({ page }: Visitor): Promise<number> {
  const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  return Math.max(0, Number(excess));
}
