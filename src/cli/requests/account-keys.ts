import type { AccountRequests } from '../../client/requests/account-requests.js';
import type { CurrentSession } from '../account/current-session.js';

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
  const secret = await store.accountSecret(session.server);
  const isOwn = await isKeyOfAccount(current);
  if (secret !== null && isOwn) {
    const { requestKeys } = await import('../../client/crypto/request-keys.js');
    const { AccountRequests } = await import('../../client/requests/account-requests.js');
    return { kind: 'keyed', requests: new AccountRequests(requestKeys(secret), session.accountId) };
  }
  const { encryptionMode } = await client.profile();
  return { kind: encryptionMode === 'plain' ? 'plain' : 'no-key' };
}

/** GATEHOUSE_TOKEN may be of another account than the stored key. */
async function isKeyOfAccount({ session, store, isFromEnvironment }: CurrentSession) {
  if (!isFromEnvironment) {
    return true;
  }
  const stored = await store.session(session.server);
  return stored === null || stored.accountId === session.accountId;
}
