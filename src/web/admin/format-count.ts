import { language } from '../words/words.js';

/** @returns the number as the language writes it */
export function formatCount(count: number): string {
  return new Intl.NumberFormat(language()).format(count);
}
