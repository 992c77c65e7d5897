import { formatWebPushToken } from '../../client/notifications/web-push.js';

/** Why this browser can receive no notifications, for a person; null where it can. */
export function whyNoPush(): string | null {
  if (!('serviceWorker' in navigator) || !('PushManager' in window)) {
    return 'This browser cannot receive notifications. On an iPhone or iPad, add this page to the Home Screen first.';
  }
  return Notification.permission === 'denied'
    ? 'Notifications of this page are blocked in the settings of this browser.'
    : null;
}

/** The push token of this browser; null where it is not subscribed. */
export async function ownToken(): Promise<string | null> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  const subscription = await registration?.pushManager.getSubscription();
  return subscription ? formatWebPushToken(subscription.toJSON()) : null;
}

/** Why a browser was not registered, for a person. */
export class NotRegistered extends Error {
  override readonly name = 'NotRegistered';
}

export async function unsubscribe(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}
