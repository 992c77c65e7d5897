import { enNotifications, type NotificationWords } from './en-notifications.js';
import { addWords, type Language } from './words.js';

/** The texts of the opened notification settings: read them while rendering, not once. */
export let notificationWords: NotificationWords = enNotifications;

/** Loads them now, and again with another language. */
export function loadNotificationWords(): Promise<void> {
  return addWords(use);
}

async function use(language: Language): Promise<void> {
  notificationWords =
    language === 'en' ? enNotifications : (await import('./de-notifications.js')).deNotifications;
}
