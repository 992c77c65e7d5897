import { en, type Messages } from './en.js';

/** Texts of the chosen language. Read them while rendering, because they change. */
export const t: Messages = { ...en };

/** Languages by their own names; the first is the default. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;

export type Language = keyof typeof LANGUAGES;

/** Kept after the tab is closed, because it reveals nothing about the account. */
const STORAGE_KEY = 'gatehouse.language';

let current: Language = 'en';
/** The last choice, which may still load. */
let wanted: Language = current;
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

/** Rejects if the language's file cannot be loaded. A later choice takes the place of one that still loads. */
export async function choose(next: Language): Promise<void> {
  if (!(await use(next))) {
    return;
  }
  try {
    localStorage.setItem(STORAGE_KEY, next);
  } catch {
    // Without storage, the next visit uses the browser's language.
  }
  changed();
}

/** Loads the texts of a part. @returns a function that shows them */
type LoadPart = (language: Language) => Promise<() => void>;

const parts = new Set([partOf(t, async () => (await import('./de.js')).de)]);

/**
 * @param texts of a part that most visits do not open, in English until another language is loaded
 * @returns a function that loads the texts: now, and again for each language. It rejects if they cannot be loaded, and
 *   forgets the part then.
 */
export function loaderOf<Texts extends object>(
  texts: Texts,
  german: () => Texts | Promise<Texts>,
): () => Promise<void> {
  const load = partOf(texts, german);
  return async () => {
    parts.add(load);
    try {
      let shown: Language;
      do {
        shown = current;
        (await load(shown))();
      } while (shown !== current);
    } catch (error) {
      parts.delete(load);
      throw error;
    }
  };
}

function partOf<Texts extends object>(
  texts: Texts,
  german: () => Texts | Promise<Texts>,
): LoadPart {
  const english = { ...texts };
  return async (language) => {
    const loaded = language === 'en' ? english : await german();
    return () => void Object.assign(texts, loaded);
  };
}

/** @returns false if another language was wanted meanwhile */
async function use(next: Language): Promise<boolean> {
  wanted = next;
  const shows = new Map<LoadPart, () => void>();
  // A part may be added while others load.
  let missing = [...parts];
  while (missing.length > 0) {
    await Promise.all(missing.map(async (load) => shows.set(load, await load(next))));
    missing = [...parts].filter((load) => !shows.has(load));
  }
  if (wanted !== next) {
    return false;
  }
  shows.forEach((show) => show());
  current = next;
  document.documentElement.lang = next;
  return true;
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
