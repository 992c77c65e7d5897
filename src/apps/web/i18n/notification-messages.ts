import { enNotifications, type NotificationMessages } from './en-notifications.js';
import { loaderOf } from './messages.js';

/** Texts of the opened notification settings. Read them while rendering, because they change. */
export let notificationMessages: NotificationMessages = enNotifications;

/** Loads the texts now, and again when the language changes. */
export const loadNotificationMessages = loaderOf(
  enNotifications,
  async () => (await import('./de-notifications.js')).deNotifications,
  (texts) => (notificationMessages = texts),
);
