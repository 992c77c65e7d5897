import type { Visit, Visitor } from '../../fixtures/programs/browser-fixture.js';

export type ConsoleSection =
  | 'Overview'
  | 'Accounts'
  | 'Invitations'
  | 'Backends'
  | 'Signals'
  | 'Audit trail'
  | 'Policy';

/** Opens the console and signs in with this token. @param url of ADMIN_PORT */
export async function openConsole(visit: Visit, url: string, token: string): Promise<Visitor> {
  const visitor = await visit('about:blank');
  await visitor.page.emulateMedia({ reducedMotion: 'reduce' });
  await visitor.page.goto(url);
  await signInWith(visitor, token);
  await seesTitle(visitor, 'Overview');
  return visitor;
}

export async function signInWith(visitor: Visitor, token: string): Promise<void> {
  await visitor.page.getByLabel('Administrator token').fill(token);
  await visitor.press('Sign in');
}

export async function seesTitle({ page }: Visitor, title: string | RegExp): Promise<void> {
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
}

export async function openSection(visitor: Visitor, section: ConsoleSection): Promise<void> {
  const tabs = visitor.page.getByRole('navigation', { name: 'Administration' });
  await tabs.getByRole('link', { name: section, exact: true }).click();
  await seesTitle(visitor, section);
}

export async function findAccount(visitor: Visitor, query: string, name: string): Promise<void> {
  await openSection(visitor, 'Accounts');
  const { page } = visitor;
  await page.getByLabel('Find an account').fill(query);
  await page.getByRole('button', { name: 'Find', exact: true }).click();
  await page.getByRole('link', { name, exact: true }).click();
  await seesTitle(visitor, name);
}

/** @param open name of the button that opens the question @param submit that of its answer */
export async function act(
  { page }: Visitor,
  open: string,
  submit: string,
  reason: string,
): Promise<void> {
  await page.getByRole('button', { name: open, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', { name: submit, exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}
