import { GatehouseClient } from '../../packages/client/api/api-client.js';
import { ServerUnreachable } from '../../packages/client/api/problem.js';
import { isStaying } from './account/tab-state.js';
import { browserName } from './browser-name.js';

/** The page is one folder below its server, behind any proxy. */
export function serverUrl(): string {
  return new URL('..', document.baseURI).href.replace(/\/$/, '');
}

/** @throws ServerUnreachable where a file of the page cannot be loaded */
export function loading<Part>(part: Promise<Part>): Promise<Part> {
  return part.catch((cause: unknown) => {
    throw new ServerUnreachable(serverUrl(), 'a file of the page cannot be loaded', { cause });
  });
}

/** Ends the session of a closed tab, whose token is lost, within a working day. */
const TAB_SESSION_SECONDS = 12 * 3600;

export function clientFor(token?: string): GatehouseClient {
  const lifetime = isStaying() ? {} : { sessionSeconds: TAB_SESSION_SECONDS };
  const client = { name: browserName(), platform: 'web', ...lifetime };
  return new GatehouseClient({ serverUrl: serverUrl(), token, client });
}
