import { enRequests, type RequestMessages } from './en-requests.js';
import { loaderOf } from './messages.js';

/** Texts of the requests. Read them while rendering, because they change. */
export let requestMessages: RequestMessages = enRequests;

/** Loads the texts now, and again when the language changes. */
export const loadRequestMessages = loaderOf(
  enRequests,
  async () => (await import('./de-requests.js')).deRequests,
  (texts) => (requestMessages = texts),
);
