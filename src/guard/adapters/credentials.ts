import type { IncomingMessage } from 'node:http';
import type { Access } from '../access.js';
import type { AccessGate } from '../access-gate.js';

const BEARER = /^Bearer +(\S+) *$/i;
/** A subprotocol with a token, for sockets of browsers, which cannot send the header. */
const SUBPROTOCOL = /^bearer\.(.+)$/;

/** A request, or a framework's object for one, and its access. */
const ACCESS = new WeakMap<object, Access>();

export function setAccess(request: object, access: Access): void {
  ACCESS.set(request, access);
}

/**
 * Returns the access of a request that an adapter of the guard admitted: of Express, Fastify, or an
 * upgrade (`request` of `ws`, `socket.request` of Socket.IO).
 *
 * @throws TypeError for any other request: no guard stands before its handler
 */
export function accessOf(request: object): Access {
  const access = ACCESS.get(request);
  if (access === undefined) {
    throw new TypeError('No guard has admitted this request.');
  }
  return access;
}

/** Returns the token of the `Authorization` header. @throws AccessRefused */
export function bearerOf(guard: AccessGate, request: IncomingMessage): string {
  return onlyToken(guard, tokensInHeader(request));
}

/**
 * Returns the token of an upgrade, from the header or a subprotocol, and removes that subprotocol:
 * the server would otherwise select it, and send the token back. @throws AccessRefused
 */
export function upgradeTokenOf(guard: AccessGate, request: IncomingMessage): string {
  const { headers } = request;
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  const tokens = offered.flatMap((protocol) => SUBPROTOCOL.exec(protocol)?.[1] ?? []);
  const others = offered.filter((protocol) => protocol !== '' && !SUBPROTOCOL.test(protocol));
  if (others.length > 0) {
    headers['sec-websocket-protocol'] = others.join(', ');
  } else {
    delete headers['sec-websocket-protocol'];
  }
  return onlyToken(guard, [...tokensInHeader(request), ...tokens]);
}

/** Also those of a repeated header: a proxy might have judged another one. */
function tokensInHeader({ headersDistinct }: IncomingMessage): string[] {
  const headers = headersDistinct['authorization'] ?? [];
  return headers.length > 1 ? headers : headers.flatMap((one) => BEARER.exec(one)?.[1] ?? []);
}

function onlyToken(guard: AccessGate, tokens: readonly string[]): string {
  const [token, ...more] = tokens;
  if (token === undefined || more.length > 0) {
    throw guard.refusal(token === undefined ? 'missing-token' : 'invalid-request');
  }
  return token;
}
