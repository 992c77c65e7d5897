import type { NotificationTarget } from '../../../packages/client/notifications/notification-routing.js';
import {
  readWebPushMessage,
  requestAddress,
  webNotification,
} from '../../../packages/client/notifications/web-push.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import { showsPreviewsHere } from './device-previews.js';
import {
  CLICKED,
  OPENED_BY,
  pageAddress,
  readClicked,
  readPressed,
  SHOW,
  VIEWING,
  type Clicked,
} from './page-messages.js';

declare const self: ServiceWorkerGlobalScope;
/** Defined in the first line of the served script: the address at which the app opens a request. */
declare const REQUEST_URL: string | null;

/** A page that does not answer within this time counts as showing no session. */
const ANSWER_MS = 500;

const TEXTS = {
  en: {
    allow: 'Allow',
    deny: 'Deny',
    answer: 'Answer',
    isOff: 'This browser gets no more notifications',
    turnOn: 'Turn them on again on the account page.',
  },
  de: {
    allow: 'Erlauben',
    deny: 'Ablehnen',
    answer: 'Antworten',
    isOff: 'Dieser Browser bekommt keine Benachrichtigungen mehr',
    turnOn: 'Auf der Kontoseite lassen sie sich wieder einschalten.',
  },
} as const;

/** The notification whose button opened a page. The address does not say it: links could forge it. */
let opened: Clicked | null = null;

self.addEventListener('install', () => void self.skipWaiting());
self.addEventListener('push', (event) => event.waitUntil(show(parsed(event.data))));
// The worker has no session with which it could save the renewed subscription.
self.addEventListener('pushsubscriptionchange', (event) => {
  const { isOff, turnOn } = texts();
  const options = { body: turnOn, tag: 'gatehouse-off' };
  event.waitUntil(self.registration.showNotification(isOff, options));
});
self.addEventListener('message', (event) => {
  // Messages come only from pages of this origin.
  const data: unknown = event.data;
  if (isRecord(data) && SHOW in data) {
    event.waitUntil(show(data[SHOW]).then((isShown) => event.ports[0]?.postMessage(isShown)));
  }
  if (isRecord(data) && OPENED_BY in data) {
    const isOpened = opened?.target.requestId === data[OPENED_BY];
    event.ports[0]?.postMessage(isOpened ? opened : null);
    opened = null;
  }
});
self.addEventListener('notificationclick', (event) => {
  const { action: button, notification } = event;
  const { title, body } = notification;
  notification.close();
  const pressed = readPressed({ button, title, body });
  const target: unknown = notification.data;
  event.waitUntil(open(readClicked({ target, pressed })));
});

/** @returns true if a notification was shown; none is where the app shows that session */
async function show(data: unknown): Promise<boolean> {
  const message = readWebPushMessage(data);
  if (message === null) {
    // Browsers withdraw the permission if a push shows nothing.
    await self.registration.showNotification('Gatehouse', { body: 'Something waits for you.' });
    return true;
  }
  const windows = (await openWindows()).filter(({ visibilityState }) => {
    return visibilityState === 'visible';
  });
  const viewing = (await Promise.all(windows.map(sessionIn))).find((one) => one !== null) ?? null;
  // Without storage the switch was never turned off.
  const isOnForDevice = await showsPreviewsHere().catch(() => true);
  const screen = { isAppOpen: windows.length > 0, viewing };
  const shown = webNotification(message, screen, isOnForDevice);
  if (shown !== null) {
    const options = { ...shown.options, actions: actionsOf(message.target) };
    await self.registration.showNotification(shown.title, options);
  }
  return shown !== null;
}

/** Every button opens the page (specification, Events 7). An app of its own address decides there. */
function actionsOf({ topic, requestId, isResolved }: NotificationTarget) {
  if (requestId === null || isResolved === true) {
    return [];
  }
  const titles = texts();
  const decisions = REQUEST_URL === null ? (['allow', 'deny'] as const) : [];
  const buttons = topic === 'permission_request' ? decisions : (['answer'] as const);
  return buttons.map((action) => ({ action, title: titles[action] }));
}

const texts = () => TEXTS[navigator.language.startsWith('de') ? 'de' : 'en'];

function parsed(data: PushMessageData | null): unknown {
  try {
    return data?.json();
  } catch {
    return null;
  }
}

/** Opens the request in the app or on the account page, preferably in an open window. */
async function open(clicked: Clicked | null): Promise<void> {
  const target = clicked?.target ?? null;
  if (target !== null && REQUEST_URL !== null) {
    await self.clients.openWindow(requestAddress(REQUEST_URL, target));
    return;
  }
  const page = (await openWindows()).find(({ url }) => isPage(url));
  if (page === undefined) {
    opened = clicked;
    await self.clients.openWindow(pageAddress(self.registration.scope, target));
  } else {
    // A passkey can be asked for in a focused page only.
    await page.focus().catch(() => undefined);
    page.postMessage({ [CLICKED]: clicked });
  }
}

async function openWindows(): Promise<readonly WindowClient[]> {
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const app = REQUEST_URL?.split('{')[0];
  return windows.filter(({ url }) => isPage(url) || (app !== undefined && url.startsWith(app)));
}

function isPage(address: string): boolean {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}/`.startsWith(self.registration.scope);
}

function sessionIn(window: WindowClient): Promise<{ serverUrl: string; sessionId: string } | null> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const timer = setTimeout(() => resolve(null), ANSWER_MS);
    port1.onmessage = ({ data }: MessageEvent<unknown>) => {
      clearTimeout(timer);
      const { serverUrl, sessionId } = isRecord(data) ? data : {};
      const isSession = typeof serverUrl === 'string' && typeof sessionId === 'string';
      resolve(isSession ? { serverUrl, sessionId } : null);
    };
    window.postMessage(VIEWING, [port2]);
  });
}
