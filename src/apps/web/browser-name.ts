import { en } from './i18n/en.js';
import { t } from './i18n/messages.js';

/** The order matters: user agents of the earlier ones also contain the names of later ones. */
const BROWSERS = { Edge: /Edg/, Firefox: /Firefox|FxiOS/, Chrome: /Chrom|CriOS/, Safari: /Safari/ };
const SYSTEMS = {
  Android: /Android/,
  iPhone: /iPhone/,
  iPad: /iPad/,
  Windows: /Windows/,
  macOS: /Mac/,
  Linux: /Linux/,
};

/** Each pair that a name can be made of; null where the user agent says neither. */
const PAIRS = [...Object.keys(BROWSERS), null].flatMap((browser) =>
  [...Object.keys(SYSTEMS), null].map((system) => ({ browser, system })),
);

/** Returns the name of this browser in the form that is stored, which is English. */
export function browserName(): string {
  const { userAgent } = navigator;
  const nameIn = (names: Readonly<Record<string, RegExp>>): string | null =>
    Object.keys(names).find((name) => names[name]?.test(userAgent)) ?? null;
  return en.browserOn(nameIn(BROWSERS), nameIn(SYSTEMS));
}

/** Returns a stored name as a reader sees it: {@link browserName} is translated, others are not. */
export function shownName(stored: string): string {
  const made = PAIRS.find(({ browser, system }) => en.browserOn(browser, system) === stored);
  return made === undefined ? stored : t.browserOn(made.browser, made.system);
}

/** Returns what to store of an entered name: the opposite of {@link shownName}. */
export function storedName(entered: string): string {
  const made = PAIRS.find(({ browser, system }) => t.browserOn(browser, system) === entered);
  return made === undefined ? entered : en.browserOn(made.browser, made.system);
}
