import type { Visitor } from '../../fixtures/programs/browser-fixture.js';
import { ON_TERMINAL, type CliUser, type RunningCli } from '../../fixtures/programs/cli-fixture.js';

export interface PrintedCode {
  readonly cli: RunningCli;
  readonly userCode: string;
  readonly link: string;
  readonly checkWords: readonly string[];
}

/** Begins to log a computer in, at whose terminal a person sits. */
export async function beginLogin(
  machine: CliUser,
  url: string,
  ...flags: readonly string[]
): Promise<PrintedCode> {
  const args = ['login', '--server', url, '--code', '--json', ...flags];
  const cli = machine.start(args, ON_TERMINAL);
  await cli.until(() => cli.stdout().includes('\n'));
  return { cli, ...(JSON.parse(cli.stdout().split('\n')[0] ?? '') as Omit<PrintedCode, 'cli'>) };
}

/** Reads the words that a page shows after it approved a typed code, and closes them. */
export async function takeWords(visitor: Visitor): Promise<string> {
  await visitor.page.getByText('The new device asks for the first three').waitFor();
  const words = await visitor.page.locator('.words').innerText();
  await visitor.press('I typed them');
  return words.split(' ').slice(0, 3).join(' ');
}

/** @param words of {@link takeWords}; null after a link */
export async function finishLogin(cli: RunningCli, words: string | null): Promise<string> {
  if (words !== null) {
    await cli.answer('Type the first three.', words);
  }
  await cli.answer('Is this your account?', 'y');
  const { code, stdout, stderr } = await cli.exited;
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  const last = stdout.trim().split('\n').at(-1) ?? '';
  return (JSON.parse(last) as { readonly accountId: string }).accountId;
}

/** Approves a typed code at the terminal of a computer with the account. */
export async function approveCode(owner: CliUser, userCode: string): Promise<string> {
  const { code, stdout } = await owner.run(['devices', 'approve', userCode, '--json'], {}, 'y\n');
  expect(code).toBe(0);
  const last = stdout.trim().split('\n').at(-1) ?? '';
  return (JSON.parse(last) as { readonly words: string[] }).words.slice(0, 3).join(' ');
}

/** Confirms the account on the page of a new device. */
export async function acceptAccount(visitor: Visitor, words: string | null): Promise<void> {
  if (words !== null) {
    await visitor.page.getByLabel('The first three words').fill(words);
    await visitor.press('Continue');
  }
  await visitor.press('Yes, sign in');
}
