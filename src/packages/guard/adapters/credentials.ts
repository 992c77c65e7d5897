import type { IncomingHttpHeaders } from 'node:http';
import type { Access } from '../access.js';
import type { AccessGate } from '../access-gate.js';

const BEARER = /^Bearer +(\S+) *$/i;
/** A subprotocol with a token, for sockets of browsers, which cannot send the header. */
const SUBPROTOCOL = /^bearer\.(.+)$/;

/** The part of a request that the guard reads, of HTTP/1, HTTP/2 or Fastify's `inject()`. */
export interface GuardedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Names and values by turns. Absent in a request that a test makes up. */
  readonly rawHeaders?: readonly string[] | undefined;
  /** The connection, unless a test makes the request up. */
  readonly socket?: object | undefined;
}

interface Admission {
  readonly access: Access;
  readonly guard: AccessGate;
}

/** A request, or a framework's object for one, and its admission. */
const ADMISSIONS = new WeakMap<object, Admission>();

export function setAccess(guard: AccessGate, request: object, access: Access): void {
  ADMISSIONS.set(request, { access, guard });
}

/** Returns the access of a request that this guard has admitted; null for any other request. */
export function accessBy(guard: AccessGate, request: object): Access | null {
  const admission = ADMISSIONS.get(request);
  return admission?.guard === guard ? admission.access : null;
}

/**
 * Returns the access of a request that an adapter of the guard admitted: of Express, Fastify, or an
 * upgrade (`request` of `ws`, `socket.request` of Socket.IO). null for any other request: no guard
 * stands before its handler.
 */
export function accessOf(request: object): Access | null {
  return ADMISSIONS.get(request)?.access ?? null;
}

/** Returns the token of the `Authorization` header. @throws AccessRefused */
export function bearerOf(guard: AccessGate, request: GuardedRequest): string {
  return onlyToken(guard, tokensInHeader(request));
}

/**
 * Returns the token of an upgrade, from the header or a subprotocol, and removes that subprotocol:
 * the server would otherwise select it, and send the token back. @throws AccessRefused
 */
export function upgradeTokenOf(guard: AccessGate, request: GuardedRequest): string {
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

/** Also those of a repeated header, of which `headers` has one: a proxy might have judged another. */
function tokensInHeader({ headers, rawHeaders = [] }: GuardedRequest): string[] {
  const sent = rawHeaders.filter(
    (_text, index) => index % 2 === 1 && /^authorization$/i.test(rawHeaders[index - 1] ?? ''),
  );
  return sent.length > 1 ? sent : (BEARER.exec(headers.authorization ?? '')?.slice(1) ?? []);
}

function onlyToken(guard: AccessGate, tokens: readonly string[]): string {
  const [token, ...more] = tokens;
  if (token === undefined || more.length > 0) {
    throw guard.refusal(token === undefined ? 'missing-token' : 'invalid-request');
  }
  return token;
}
