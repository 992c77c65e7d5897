import { en, type Words } from './en.js';

/** The texts of the chosen language: read them while rendering, not once. */
export let words: Words = en;

/** The languages by their own names; the first is used where the browser asks for none of them. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;

export type Language = keyof typeof LANGUAGES;

/** Kept beyond the tab: it says nothing about the account. */
const CHOSEN = 'gatehouse.language';

const others = {
  de: async () => (await import('./de.js')).de,
} satisfies Record<Exclude<Language, 'en'>, () => Promise<Words>>;

let current: Language = 'en';
let changed: () => void = () => undefined;

/** The language of `words`. */
export function language(): Language {
  return current;
}

/**
 * Loads the language of this browser, or the one chosen here before.
 *
 * @param onChange renders the page again after {@link choose}
 */
export async function startLanguage(onChange: () => void): Promise<void> {
  changed = onChange;
  const wanted = [savedLanguage(), ...navigator.languages];
  const tags = wanted.map((tag) => tag.toLowerCase().split('-')[0] ?? '');
  await use(tags.find(isLanguage) ?? 'en').catch(() => undefined);
}

/** Changes the language and keeps the choice. Rejects where its file cannot be loaded. */
export async function choose(next: Language): Promise<void> {
  await use(next);
  try {
    localStorage.setItem(CHOSEN, next);
  } catch {
    // A browser that stores nothing asks for its own language the next time.
  }
  changed();
}

type Load = (language: Language) => Promise<void>;

const parts = new Set<Load>();

/** Adds the texts of a part that most visits do not open. Loads them now, and with each language. */
export async function addWords(load: Load): Promise<void> {
  await load(current);
  parts.add(load);
}

async function use(next: Language): Promise<void> {
  const [loaded] = await Promise.all([
    next === 'en' ? en : others[next](),
    ...Array.from(parts, (load) => load(next)),
  ]);
  words = loaded;
  current = next;
  document.documentElement.lang = next;
}

function savedLanguage(): string {
  try {
    return localStorage.getItem(CHOSEN) ?? '';
  } catch {
    return '';
  }
}

function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(LANGUAGES, tag);
}
