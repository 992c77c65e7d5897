import { enRefused, type RefusedMessages } from './en-refused.js';
import { loaderOf } from './messages.js';

/** Texts for people who are refused. Read them while rendering, because they change. */
export let refusedMessages: RefusedMessages = enRefused;

/** Loads the texts now, and again when the language changes. */
export const loadRefusedMessages = loaderOf(
  enRefused,
  async () => (await import('./de-refused.js')).deRefused,
  (texts) => (refusedMessages = texts),
);
