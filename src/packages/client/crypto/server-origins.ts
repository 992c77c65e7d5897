import { isPrivateAddress, parseAddress } from '../../../common/addresses.js';
import { serverAddressOf } from '../api/server-url.js';

/**
 * True for a list of the server's own origins that has the one of this client: another server
 * cannot relay it. An empty list passes from loopback and private addresses.
 */
export function listsServer(origins: readonly string[], serverUrl: string): boolean {
  const { origin } = serverAddressOf(serverUrl);
  return origins.length === 0 ? isPrivateServer(serverUrl) : origins.includes(origin);
}

/** Explains a list that {@link listsServer} refuses. @param subject begins the sentence */
export function otherServer(
  subject: string,
  serverUrl: string,
  origins: readonly string[],
): string {
  const listed =
    origins.length === 0
      ? 'names no server, which only loopback and private IP addresses may'
      : `is for ${origins.join(', ')}`;
  return (
    `${subject} of ${serverUrl} ${listed}. Use the server's own address, or ask its operator ` +
    `to list ${serverAddressOf(serverUrl).origin} in SERVICE_PUBLIC_URL or SERVICE_LOGIN_ORIGINS.`
  );
}

/** By the address alone: a name could resolve to anything, except for `localhost` (RFC 6761, 6.3). */
function isPrivateServer(serverUrl: string): boolean {
  const host = serverAddressOf(serverUrl).hostname.replace(/^\[|\]$/g, '');
  const address = parseAddress(host);
  return address === null ? /(^|\.)localhost\.?$/i.test(host) : isPrivateAddress(address);
}
