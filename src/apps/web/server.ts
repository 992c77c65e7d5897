import { GatehouseClient } from '../../packages/client/api/api-client.js';
import { ServerUnreachable } from '../../packages/client/api/problem.js';
import { isSameServer } from '../../packages/client/notifications/notification-routing.js';
import { isStaying } from './account/tab-state.js';
import { browserName } from './browser-name.js';

/** The page is one folder below its server, behind any proxy. */
export function serverUrl(): string {
  return new URL('..', document.baseURI).href.replace(/\/$/, '');
}

/**
 * True for the address of this page, and on one computer for each of its own addresses: the command
 * may use another one than the browser.
 */
export function isKnownServer(url: string): boolean {
  return isSameServer(url, serverUrl()) || (isLoopback(url) && isLoopback(serverUrl()));
}

function isLoopback(url: string): boolean {
  return URL.canParse(url) && /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);
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
