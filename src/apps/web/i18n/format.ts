import { language, t } from './messages.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Limit of relative times; beyond it, a date is more precise. */
const RELATIVE_LIMIT_MS = 7 * DAY_MS;

function locale(): string {
  const own = navigator.languages.find((tag) => tag.split('-')[0] === language());
  return own ?? language();
}

export function formatDate(milliseconds: number): string {
  const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
  return new Intl.DateTimeFormat(locale(), style).format(milliseconds);
}

export function formatDay(milliseconds: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'long' }).format(milliseconds);
}

/** @param milliseconds Unix time */
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
  if (unit === 'second' && distance <= 0) {
    return t.justNow;
  }
  const count = unit === 'day' ? daysBetween(now, milliseconds) : Math.round(distance / ms);
  const style = { numeric: 'auto' } as const;
  return new Intl.RelativeTimeFormat(locale(), style).format(count, unit);
}

/** Counts by the calendar: 30 hours before a morning is not "yesterday". */
function daysBetween(first: number, last: number): number {
  const midnight = (time: number) => new Date(time).setHours(0, 0, 0, 0);
  // Some days have 23 or 25 hours.
  return Math.round((midnight(last) - midnight(first)) / DAY_MS);
}

/** Returns the time of something that has happened, which is now by a clock that is behind. */
export function formatPast(milliseconds: number): string {
  const now = Date.now();
  return formatRelative(Math.min(milliseconds, now), now);
}

/** Returns the time of something that is still to come, which is due now if its time is over. */
export function formatUpcoming(milliseconds: number): string {
  const now = Date.now();
  return formatRelative(Math.max(milliseconds, now + 1), now);
}

/** @param seconds from now @returns for example `in 30 seconds` */
export function formatWait(seconds: number): string {
  return new Intl.RelativeTimeFormat(locale()).format(Math.ceil(seconds), 'second');
}

/** @returns for example `5 minutes`, or seconds where they are no whole minutes */
export function formatDuration(seconds: number): string {
  const isWhole = seconds % 60 === 0;
  const unit = isWhole ? 'minute' : 'second';
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(locale(), style).format(isWhole ? seconds / 60 : seconds);
}

/** Joins the facts that are known. */
export function joinFacts(...facts: readonly (string | false | null | undefined)[]): string {
  return facts.filter(Boolean).join(' · ');
}

export function formatList(parts: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: 'unit', style: 'short' }).format(parts);
}
