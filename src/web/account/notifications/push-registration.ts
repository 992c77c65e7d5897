import type { AccountContent } from '../../../client/crypto/account-content.js';
import { readBase64 } from '../../../client/crypto/bytes.js';
import { formatWebPushToken } from '../../../client/notifications/web-push.js';
import { ensureWebPushKey } from '../../../client/notifications/web-push-key.js';
import { clientFor, serverUrl } from '../../server.js';
import type { Session } from '../tab-state.js';

/** Why a browser was not registered. */
export class NotRegistered extends Error {
  override readonly name = 'NotRegistered';

  constructor(
    readonly reason: 'denied' | 'address' | 'service',
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}

/**
 * Registers this browser for the account's notifications, after asking its person.
 *
 * @param name what it is called in lists
 * @param content opens the settings; null where they are not end-to-end encrypted
 * @throws NotRegistered
 */
export async function register(
  { token: bearer }: Session,
  name: string,
  content: AccountContent | null,
): Promise<void> {
  // First: browsers ask only while they handle a click.
  if ((await Notification.requestPermission()) !== 'granted') {
    throw new NotRegistered('denied');
  }
  const client = clientFor(bearer);
  const subscription = await subscribe(await ensureWebPushKey(client, content));
  const token = formatWebPushToken(subscription.toJSON());
  if (token === null) {
    await subscription.unsubscribe();
    throw new NotRegistered('address');
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
      throw new NotRegistered('service', { cause: error });
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
