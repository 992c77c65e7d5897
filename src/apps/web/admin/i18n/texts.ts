import type { Language } from '../../i18n/messages.js';
import { MESSAGES, type Messages } from '../../../../core/policy/messages/messages.js';
import { en, type Texts } from './en.js';

/** Read the texts while rendering, because they change with the language. */
export let texts: Texts = en;

/** Messages of the server's statements, by code. */
export let messages: Messages = MESSAGES;

/** Loads both. @returns a function that shows them */
export async function loadTexts(language: Language): Promise<() => void> {
  const loaded = language === 'en' ? ([en, MESSAGES] as const) : await loadGerman();
  return () => ([texts, messages] = loaded);
}

async function loadGerman(): Promise<readonly [Texts, Messages]> {
  const [texts, policy] = await Promise.all([import('./de.js'), import('./de-policy.js')]);
  return [texts.de, policy.messages];
}
