import { en, type Messages } from './en.js';

/** Texts of the chosen language. Read them while rendering, because they change. */
export let t: Messages = en;

/** Languages by their own names; the first is the default. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;

export type Language = keyof typeof LANGUAGES;

/** Kept after the tab is closed, because it reveals nothing about the account. */
const STORAGE_KEY = 'gatehouse.language';

const others = {
  de: async () => (await import('./de.js')).de,
} satisfies Record<Exclude<Language, 'en'>, () => Promise<Messages>>;

let current: Language = 'en';
let changed: () => void = () => undefined;

export function language(): Language {
  return current;
}

/** @param onChange renders the page again after {@link choose} */
export async function startLanguage(onChange: () => void): Promise<void> {
  changed = onChange;
  const wanted = [savedLanguage(), ...navigator.languages];
  const tags = wanted.map((tag) => tag.toLowerCase().split('-')[0] ?? '');
  await use(tags.find(isLanguage) ?? 'en').catch(() => undefined);
}

/** Rejects if the language's file cannot be loaded. */
export async function choose(next: Language): Promise<void> {
  await use(next);
  try {
    localStorage.setItem(STORAGE_KEY, next);
  } catch {
    // Without storage, the next visit uses the browser's language.
  }
  changed();
}

type Load = (language: Language) => Promise<void>;

const parts = new Set<Load>();

/** Adds the texts of a part that most visits do not open: now, and again for each language. */
export async function addMessages(load: Load): Promise<void> {
  await load(current);
  parts.add(load);
}

async function use(next: Language): Promise<void> {
  const [loaded] = await Promise.all([
    next === 'en' ? en : others[next](),
    ...Array.from(parts, (load) => load(next)),
  ]);
  t = loaded;
  current = next;
  document.documentElement.lang = next;
}

function savedLanguage(): string {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? '';
  } catch {
    return '';
  }
}

function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(LANGUAGES, tag);
}
