import type { AccountRequests } from '../../../packages/client/approvals/account-requests.js';
import type { CurrentSession } from '../account/current-session.js';
import { isKeyOfAccount, settingsAccess } from '../account/settings-access.js';

/** The means of this computer to seal and open the requests of an account. */
export type RequestAccess =
  | { readonly kind: 'keyed'; readonly requests: AccountRequests }
  /** The account is end-to-end encrypted, and its key is on other devices. */
  | { readonly kind: 'no-key' }
  /** The server can read the content; requests can be denied only. */
  | { readonly kind: 'plain' };

/**
 * A computer with a key uses it, whatever the server says about the account: content would leave it
 * unsealed otherwise.
 */
export async function requestAccess(current: CurrentSession): Promise<RequestAccess> {
  const { session, store, client } = current;
  const { server, accountId } = session;
  const secret = await store.accountSecret(server);
  if (secret !== null && (await isKeyOfAccount(current))) {
    const { requestKeys } = await import('../../../packages/client/crypto/request-keys.js');
    const { AccountRequests } =
      await import('../../../packages/client/approvals/account-requests.js');
    return { kind: 'keyed', requests: new AccountRequests(requestKeys(secret), accountId) };
  }
  const access = await settingsAccess(current);
  const mode = (await access?.pins.read())?.mode ?? (await client.profile()).encryptionMode;
  return { kind: mode === 'plain' ? 'plain' : 'no-key' };
}
