import { enNotifications, type NotificationMessages } from './en-notifications.js';
import { addMessages, type Language } from './messages.js';

/** Texts of the opened notification settings. Read them while rendering, because they change. */
export let notificationMessages: NotificationMessages = enNotifications;

/** Loads the texts now, and again when the language changes. */
export function loadNotificationMessages(): Promise<void> {
  return addMessages(load);
}

async function load(language: Language): Promise<() => void> {
  const loaded =
    language === 'en' ? enNotifications : (await import('./de-notifications.js')).deNotifications;
  return () => (notificationMessages = loaded);
}
