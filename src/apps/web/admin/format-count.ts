import { language } from '../i18n/messages.js';

export function formatCount(count: number): string {
  return new Intl.NumberFormat(language()).format(count);
}

/** Limit of the server's counts; a greater one stands for any number above. */
export const MAX_COUNTED = 100_000;
