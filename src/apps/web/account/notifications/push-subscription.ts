import { useEffect, useState } from 'preact/hooks';
import { registersPushToken } from '../../../../packages/client/notifications/notification-display.js';
import {
  formatWebPushToken,
  type WebPushMessage,
} from '../../../../packages/client/notifications/web-push.js';
import { serverUrl } from '../../server.js';
import { SHOW } from '../../worker/page-messages.js';
import type { Account } from '../use-account.js';

declare global {
  interface ImportMeta {
    /** Constants of the build. */
    readonly env: {
      readonly DEV: boolean;
      readonly CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION?: string;
      readonly CLIENT_PUBLIC_REQUEST_PREVIEWS?: string;
    };
  }
}

const ANSWER_MS = 5_000;
const { CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION } = import.meta.env;
const REGISTERS = registersPushToken({
  isDevelopmentBuild: import.meta.env.DEV,
  variables: { CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION },
});

type UnavailableReason = 'development' | 'unsupported' | 'homeScreen' | 'blocked';

export function unavailableReason(): UnavailableReason | null {
  if (!REGISTERS) {
    return 'development';
  }
  if (!('serviceWorker' in navigator) || !('PushManager' in window)) {
    // Only iPhones and iPads have this property. They receive notifications on the Home Screen.
    return 'standalone' in navigator ? 'homeScreen' : 'unsupported';
  }
  return Notification.permission === 'denied' ? 'blocked' : null;
}

/** null where this browser is not subscribed. */
export async function ownToken(): Promise<string | null> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  const subscription = await registration?.pushManager.getSubscription();
  return subscription ? formatWebPushToken(subscription.toJSON()) : null;
}

export function useOwnToken(account: Account | null): string | null {
  const [own, setOwn] = useState<string | null>(null);
  useEffect(() => {
    if (unavailableReason() === null) {
      ownToken().then(setOwn, () => setOwn(null));
    }
  }, [account]);
  return own;
}

export async function unsubscribe(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

/** Sends the service worker a message. Resolves with true if it showed a notification. */
export async function showTest(title: string, body: string): Promise<boolean> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  const worker = registration?.active;
  if (!worker) {
    return false;
  }
  const message: WebPushMessage = {
    title,
    body,
    tag: 'gatehouse-test',
    createdAt: Date.now(),
    foregroundBehavior: 'full',
    target: {
      topic: 'ready',
      serverUrl: serverUrl(),
      sessionId: 'gatehouse-test',
      requestId: null,
      eventId: null,
    },
  };
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }: MessageEvent<unknown>) => resolve(data === true);
    // The worker of an earlier version does not answer this message.
    setTimeout(() => resolve(false), ANSWER_MS);
    worker.postMessage({ [SHOW]: message }, [port2]);
  });
}
