import { useCallback, useEffect, useState } from 'preact/hooks';
import { registersPushToken } from '../../../../packages/client/notifications/notification-display.js';
import {
  formatWebPushToken,
  type WebPushMessage,
} from '../../../../packages/client/notifications/web-push.js';
import { base64UrlOf } from '../../../../packages/client/crypto/bytes.js';
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
  const subscription = await ownSubscription();
  return subscription ? formatWebPushToken(subscription.toJSON()) : null;
}

/** Returns the public key with which this browser is subscribed; null where it does not say so. */
export async function subscribedKey(): Promise<string | null> {
  const key = (await ownSubscription())?.options?.applicationServerKey;
  return key ? base64UrlOf(new Uint8Array(key)) : null;
}

async function ownSubscription(): Promise<PushSubscription | null | undefined> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  return registration?.pushManager.getSubscription();
}

export function useOwnToken(account: Account | null): string | null {
  const [own, setOwn] = useState<string | null>(null);
  const read = useCallback(() => {
    const found = unavailableReason() === null ? ownToken() : Promise.resolve(null);
    found.then(setOwn, () => setOwn(null));
  }, []);
  useEffect(read, [account]);
  useEffect(() => watchPermission(read), []);
  return own;
}

/** Calls back when the person takes the permission from this page, or gives it back. */
function watchPermission(changed: () => void): () => void {
  const stop = new AbortController();
  // Older browsers have no such event.
  const asked = navigator.permissions?.query({ name: 'notifications' });
  asked?.then(
    (status) => status.addEventListener('change', changed, stop),
    () => undefined,
  );
  return () => stop.abort();
}

export async function unsubscribe(): Promise<void> {
  await (await ownSubscription())?.unsubscribe();
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
