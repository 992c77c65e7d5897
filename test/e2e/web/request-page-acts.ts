import { DeviceKey } from '../../../src/packages/client/crypto/device-key.js';
import { Asker } from '../../fixtures/asker-fixture.js';
import type { Visitor } from '../../fixtures/programs/browser-fixture.js';
import { accountId, createAccount, tokenOf } from './account-page-acts.js';

interface AskingAccount {
  readonly asker: Asker;
  /** The key of the account, as its owner saved it. */
  readonly key: string;
}

/** Signs up on the page. @returns a program that asks the new account */
export async function signUpAsker(
  visitor: Visitor,
  server: { readonly url: string },
  stays = true,
): Promise<AskingAccount> {
  const stay = visitor.page.getByLabel('Stay signed in on this device');
  await (stays ? stay.check() : stay.waitFor());
  const key = await createAccount(visitor);
  const { bytes: secret } = await DeviceKey.fromSecret(key);
  const [token, account] = [await tokenOf(visitor), await accountId(visitor)];
  return { asker: new Asker(server, { token, account, secret }), key };
}

export async function openRequests({ page }: Visitor): Promise<void> {
  await page.getByRole('link', { name: /^Requests/ }).click();
  await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
}
