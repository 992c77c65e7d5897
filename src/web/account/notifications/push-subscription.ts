import { useEffect, useState } from 'preact/hooks';
import { formatWebPushToken, type WebPushMessage } from '../../../client/notifications/web-push.js';
import { serverUrl } from '../../server.js';
import { SHOW } from '../../worker/page-messages.js';
import type { Account } from '../use-account.js';

const ANSWER_MS = 5_000;

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

/**
 * Lets the service worker show a test as it shows a message that a sender encrypted: what is missing of
 * the whole way is the push service.
 *
 * @returns whether it showed one
 */
export async function showTest(title: string, body: string): Promise<boolean> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  const worker = registration?.active;
  if (!worker) {
    return false;
  }
  const message: WebPushMessage = {
    ...{ title, body, tag: 'gatehouse-test', createdAt: Date.now(), foregroundBehavior: 'full' },
    target: {
      ...{ topic: 'ready', serverUrl: serverUrl(), sessionId: 'gatehouse-test' },
      ...{ requestId: null, eventId: null },
    },
  };
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }: MessageEvent<unknown>) => resolve(data === true);
    // The worker of an earlier version knows no such question.
    setTimeout(() => resolve(false), ANSWER_MS);
    worker.postMessage({ [SHOW]: message }, [port2]);
  });
}
