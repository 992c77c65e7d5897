import { language } from './words.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Older or later than that, a date says more than a number of days. */
const RELATIVE_LIMIT_MS = 7 * DAY_MS;

/** The language with the reader's own region, for example `en-GB`. */
function locale(): string {
  const own = navigator.languages.find((tag) => tag.split('-')[0] === language());
  return own ?? language();
}

/** @param milliseconds Unix time @returns date and time */
export function formatDate(milliseconds: number): string {
  const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
  return new Intl.DateTimeFormat(locale(), style).format(milliseconds);
}

/** @param milliseconds Unix time @returns the day alone */
export function formatDay(milliseconds: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'long' }).format(milliseconds);
}

/**
 * A moment as people say it: `5 minutes ago`, `in 3 hours`, or its date where it is far away.
 *
 * @param milliseconds Unix time
 */
export function formatRelative(milliseconds: number, now = Date.now()): string {
  const distance = milliseconds - now;
  const size = Math.abs(distance);
  if (size >= RELATIVE_LIMIT_MS) {
    return formatDate(milliseconds);
  }
  const units = [
    { unit: 'day', ms: DAY_MS },
    { unit: 'hour', ms: HOUR_MS },
    { unit: 'minute', ms: MINUTE_MS },
  ] as const;
  const { unit, ms } = units.find((one) => size >= one.ms) ?? { unit: 'second', ms: 1000 };
  const count = unit === 'second' && distance <= 0 ? 0 : Math.round(distance / ms);
  return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }).format(count, unit);
}

/** @param seconds from now @returns for example `in 30 seconds` */
export function formatWait(seconds: number): string {
  return new Intl.RelativeTimeFormat(locale()).format(Math.ceil(seconds), 'second');
}

/** @returns the parts as a list of the language: `a, b and c` */
export function formatList(parts: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: 'unit', style: 'short' }).format(parts);
}
