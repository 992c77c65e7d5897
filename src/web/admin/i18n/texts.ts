import type { Language } from '../../i18n/messages.js';
import { MESSAGES, type Messages } from '../../../policy/messages/messages.js';
import { en, type Texts } from './en.js';

/** Read the texts while rendering, because they change with the language. */
export let texts: Texts = en;

/** Messages of the server's statements, by code. */
export let messages: Messages = MESSAGES;

export async function loadTexts(language: Language): Promise<void> {
  [texts, messages] = language === 'en' ? [en, MESSAGES] : await loadGerman();
}

async function loadGerman(): Promise<[Texts, Messages]> {
  const [texts, policy] = await Promise.all([import('./de.js'), import('./de-policy.js')]);
  return [texts.de, policy.messages];
}
