import { enRefused, type RefusedMessages } from './en-refused.js';
import { addMessages, type Language } from './messages.js';

/** Texts for people who are refused. Read them while rendering, because they change. */
export let refusedMessages: RefusedMessages = enRefused;

/** Loads the texts now, and again when the language changes. */
export function loadRefusedMessages(): Promise<void> {
  return addMessages(load);
}

async function load(language: Language): Promise<() => void> {
  const loaded = language === 'en' ? enRefused : (await import('./de-refused.js')).deRefused;
  return () => (refusedMessages = loaded);
}
