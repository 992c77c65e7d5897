import { useEffect, useState } from 'preact/hooks';
import { formatWebPushToken } from '../../../client/notifications/web-push.js';
import type { Account } from '../use-account.js';

/** Why this browser can receive no notifications; null where it can. */
export function whyNoPush(): 'unsupported' | 'blocked' | null {
  if (!('serviceWorker' in navigator) || !('PushManager' in window)) {
    return 'unsupported';
  }
  return Notification.permission === 'denied' ? 'blocked' : null;
}

/** The push token of this browser; null where it is not subscribed. */
async function ownToken(): Promise<string | null> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  const subscription = await registration?.pushManager.getSubscription();
  return subscription ? formatWebPushToken(subscription.toJSON()) : null;
}

/** The push token of this browser, read again whenever the account is. */
export function useOwnToken(account: Account | null): string | null {
  const [own, setOwn] = useState<string | null>(null);
  useEffect(() => {
    if (whyNoPush() === null) {
      ownToken().then(setOwn, () => setOwn(null));
    }
  }, [account]);
  return own;
}

export async function unsubscribe(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}
