import type { AccountProfile } from '../../client/api/api-client-answers.js';
import { AccountContent } from '../../client/crypto/account-content.js';
import { readBase64 } from '../../client/crypto/bytes.js';
import type { DeviceKey } from '../../client/crypto/device-key.js';
import { formatWebPushToken } from '../../client/notifications/web-push.js';
import { ensureWebPushKey } from '../../client/notifications/web-push-key.js';
import { clientFor, serverUrl } from '../server.js';
import { requireOwnKey } from './own-key.js';
import { NotRegistered } from './push-subscription.js';
import type { Session } from './tab-state.js';

/**
 * Registers this browser, which has its person's permission, for the account's notifications.
 *
 * @param key opens the settings; null where they are not end-to-end encrypted
 */
export async function register(
  session: Session,
  profile: AccountProfile,
  name: string,
  key: DeviceKey | null,
): Promise<void> {
  const client = clientFor(session.token);
  if (key !== null) {
    // Another key would seal the settings for good.
    await requireOwnKey(key, profile.id);
  }
  const content = key && new AccountContent(key.bytes, profile.id);
  const publicKey = await ensureWebPushKey(client, content);
  const subscription = await subscribe(publicKey);
  const token = formatWebPushToken(subscription.toJSON());
  if (token === null) {
    await subscription.unsubscribe();
    throw new NotRegistered('The push service of this browser gave no address that can be used.');
  }
  await client.savePushToken(token, serverUrl(), { name, platform: 'web' });
}

async function subscribe(publicKey: string): Promise<PushSubscription> {
  const registration = await navigator.serviceWorker.register(workerAddress());
  await activated(registration);
  const { pushManager } = registration;
  const options = { userVisibleOnly: true, applicationServerKey: readBase64(publicKey, 65, 65) };
  try {
    return await pushManager.subscribe(options);
  } catch (error) {
    // Subscribed with an earlier key of the account: a browser has one subscription a page.
    const old = await pushManager.getSubscription();
    if (old === null) {
      throw new NotRegistered('The push service of this browser cannot be reached.', {
        cause: error,
      });
    }
    await old.unsubscribe();
    return pushManager.subscribe(options);
  }
}

/** In place of `ready`, which never comes for a page opened at `/app`: its scope is `/app/`. */
function activated({ active, waiting, installing }: ServiceWorkerRegistration): Promise<void> {
  const worker = active ?? waiting ?? installing;
  return new Promise((resolve) => {
    const check = () => worker?.state === 'activated' && resolve();
    worker?.addEventListener('statechange', check);
    check();
  });
}

interface TrustedScriptPolicy {
  createScriptURL(input: string): string;
}

interface TrustedTypesFactory {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (input: string) => string },
  ): TrustedScriptPolicy;
}

let policy: TrustedScriptPolicy | undefined;

/** The one script address that the page's Trusted Types policy makes. */
function workerAddress(): string {
  const address = new URL('worker.js', document.baseURI).href;
  const { trustedTypes } = window as { readonly trustedTypes?: TrustedTypesFactory };
  policy ??= trustedTypes?.createPolicy('gatehouse-worker', { createScriptURL: () => address });
  return policy?.createScriptURL('') ?? address;
}
