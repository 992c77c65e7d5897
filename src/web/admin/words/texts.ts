import type { Language } from '../../words/words.js';
import { en, type Texts } from './en.js';

/** The texts of the console in the language of `words`: read them while rendering, not once. */
export let texts: Texts = en;

/** Loads them, see `addWords`. */
export async function loadTexts(language: Language): Promise<void> {
  texts = language === 'en' ? en : (await import('./de.js')).de;
}
