import { GatehouseClient } from '../client/api/api-client.js';
import { browserName } from './browser-name.js';

/** The server that hosts this page: one folder above it, whatever proxy stands between. */
export function serverUrl(): string {
  return new URL('..', document.baseURI).href.replace(/\/$/, '');
}

/** Its routes, for the account of `token` where one is given. */
export function clientFor(token?: string): GatehouseClient {
  const client = { name: browserName(), platform: 'web' };
  return new GatehouseClient({ serverUrl: serverUrl(), token, client });
}
