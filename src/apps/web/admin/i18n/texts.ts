import { loaderOf } from '../../i18n/messages.js';
import { en } from './en.js';

/** Texts of the chosen language. Read them while rendering, because they change. */
export const texts = { ...en };

/** Loads the texts of the language now, and again when it changes. */
export const loadTexts = loaderOf(texts, async () => (await import('./de.js')).de);
