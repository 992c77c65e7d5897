import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyInstance } from 'fastify';
import { parseAddress, unmappedText } from '../../common/addresses.js';

const BRACKETED = /^\[([^\]]+)\](?::\d{1,5})?$/;
const WITH_PORT = /^([^:]+):\d{1,5}$/;

/** `hop` counts from the peer, which is 0. */
export type Trust = (address: string, hop: number) => boolean;

/** @param proxies addresses and CIDR ranges */
export function trustOf(proxies: readonly string[]): Trust {
  return proxyAddress.compile([...proxies]);
}

/** Call it before hooks that read `request.ip`. */
export function readForwardedAddresses(server: FastifyInstance, isTrusted: Trust): void {
  server.addHook('onRequest', ({ raw }, _reply, done) => {
    unmapPeer(raw.socket);
    keepTrustedAddresses(raw, isTrusted);
    done();
  });
}

/** For a request that has not passed the hooks of a listener. */
export function clientAddress(request: IncomingMessage, isTrusted: Trust): string {
  unmapPeer(request.socket);
  keepTrustedAddresses(request, isTrusted);
  return proxyAddress(request, isTrusted);
}

/** A socket on `::` reports IPv4 peers as mapped, which the audit trail would keep. */
function unmapPeer(socket: Socket): void {
  const { remoteAddress } = socket;
  if (remoteAddress?.startsWith('::ffff:') === true) {
    Object.defineProperty(socket, 'remoteAddress', { value: unmappedText(remoteAddress) });
  }
}

/**
 * Reduces `X-Forwarded-For` to the addresses that trusted proxies report, without ports: each
 * connection would be another client. It ends before an entry that is no address.
 */
function keepTrustedAddresses({ headers, socket }: IncomingMessage, isTrusted: Trust): void {
  const header = headers['x-forwarded-for'];
  if (typeof header !== 'string') {
    return;
  }
  const entries = header.split(',').filter((entry) => entry.trim() !== '');
  const kept: string[] = [];
  let reporter = socket.remoteAddress;
  while (reporter !== undefined && isTrusted(reporter, kept.length)) {
    reporter = forwardedAddress(entries.pop()?.trim() ?? '') ?? undefined;
    kept.unshift(...(reporter === undefined ? [] : [reporter]));
  }
  headers['x-forwarded-for'] = kept.join(', ');
}

/** @returns null for an entry that is no address: `unknown`, `_hidden`, a host name */
function forwardedAddress(entry: string): string | null {
  const address = BRACKETED.exec(entry)?.[1] ?? WITH_PORT.exec(entry)?.[1] ?? entry;
  return parseAddress(address) === null ? null : address;
}
