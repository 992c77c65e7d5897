import { enRequests, type RequestMessages } from './en-requests.js';
import { addMessages, type Language } from './messages.js';

/** Texts of the requests. Read them while rendering, because they change. */
export let requestMessages: RequestMessages = enRequests;

/** Loads the texts now, and again when the language changes. */
export function loadRequestMessages(): Promise<void> {
  return addMessages(load);
}

async function load(language: Language): Promise<() => void> {
  const loaded = language === 'en' ? enRequests : (await import('./de-requests.js')).deRequests;
  return () => (requestMessages = loaded);
}
