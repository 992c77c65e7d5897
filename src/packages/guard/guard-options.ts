import type { Clock } from '../../common/runtime/clock.js';
import type { Random } from '../../common/runtime/random.js';
import type { Timers } from '../../common/runtime/timers.js';
import { GUARD_LEASE_SECONDS } from '../../core/policy/admission/revocation.js';
import { scopesIn } from '../../core/policy/admission/scopes.js';

/** Authentication of the backend at Gatehouse, as its entry there configures it. */
export type GuardClient = { readonly id: string } & (
  | { readonly secret: string }
  /** A file with the client secret in its first line; a change applies without a restart. */
  | { readonly secretFile: string }
  /** A file with a private key as JWK, which has an `alg`, for `private_key_jwt` (RFC 7523). */
  | { readonly privateKeyFile: string }
  /** A file with a client assertion that another program renews, as Kubernetes does. */
  | { readonly assertionFile: string }
);

/** A change of the guard's state that an operator should know. */
export interface GuardLogEntry {
  readonly level: 'info' | 'warn';
  readonly message: string;
  /** The cause, without secrets, tokens or bodies. */
  readonly reason?: string;
}

export interface GuardOptions {
  /** `SERVICE_PUBLIC_URL` of Gatehouse. */
  readonly issuer: string;
  /** The `resource` of the backend's entry, character by character. */
  readonly resource: string;
  readonly client: GuardClient;
  /**
   * The guard admits no request, and closes what it holds, if for so long it could not learn which
   * sessions have ended. 25 to 300, default 30.
   */
  readonly leaseSeconds?: number | undefined;
  /** The `tokenAlg` of the entry. Default: `ES256`. */
  readonly tokenAlg?: 'ES256' | 'RS256' | undefined;
  /**
   * The `initial` of the entry's `programs`, with spaces between the scopes: challenges and the
   * metadata name them as the scopes to ask for at first. Default: they name none.
   */
  readonly initialScope?: string | undefined;
  /** Closes a held connection when its token expires, not only when its session does. */
  readonly closeOnTokenExpiry?: boolean | undefined;
  /**
   * Asks Gatehouse about each token (RFC 7662) instead of receiving signals, for backends that keep
   * nothing running. An answer is used for `cacheSeconds`, 0 to 60: an ended session can go on for so
   * long.
   */
  readonly introspection?: { readonly cacheSeconds: number } | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Default: the console. */
  readonly log?: ((entry: GuardLogEntry) => void) | undefined;
}

/** Time and chance, which tests replace. */
export interface GuardRuntime {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
}

/** Options with their defaults. */
export interface GuardSettings {
  readonly issuer: string;
  readonly resource: string;
  readonly client: GuardClient;
  readonly leaseMs: number;
  readonly tokenAlg: 'ES256' | 'RS256';
  /** null = none. */
  readonly initialScopes: readonly string[] | null;
  readonly closeOnTokenExpiry: boolean;
  /** null = signals. */
  readonly cacheMs: number | null;
  readonly fetch: typeof fetch;
  readonly log: (entry: GuardLogEntry) => void;
}

/** Two polls that wait for 10 s each, and their requests. */
const SHORTEST_LEASE_SECONDS = 25;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
/** The path of the protected resource metadata of a resource without a path (RFC 9728, 3). */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** @throws TypeError for a mistake in the options */
export function readOptions(options: GuardOptions): GuardSettings {
  const { issuer, resource, client, leaseSeconds = GUARD_LEASE_SECONDS, introspection } = options;
  const { tokenAlg = 'ES256', closeOnTokenExpiry = false, log = logToConsole } = options;
  const { initialScope } = options;
  const initialScopes = scopesIn(initialScope);
  requireAddress('issuer', issuer);
  requireAddress('resource', resource);
  requireSeconds('leaseSeconds', leaseSeconds, SHORTEST_LEASE_SECONDS, 300);
  if (introspection !== undefined) {
    requireSeconds('introspection.cacheSeconds', introspection.cacheSeconds, 0, 60);
  }
  if (tokenAlg !== 'ES256' && tokenAlg !== 'RS256') {
    throw new TypeError('"tokenAlg" must be ES256 or RS256.');
  }
  if (initialScope !== undefined && initialScopes === null) {
    throw new TypeError('"initialScope" must be scopes with single spaces between them.');
  }
  const ways = ['secret', 'secretFile', 'privateKeyFile', 'assertionFile'] as const;
  const given = ways.filter((way) =>
    isText((client as Partial<Record<string, unknown>> | null | undefined)?.[way]),
  );
  if (given.length !== 1 || !isText(client.id)) {
    throw new TypeError(`"client" must have an id and one of ${ways.join(', ')}.`);
  }
  requireFunction('log', log);
  requireFunction('fetch', options.fetch ?? fetch);
  return {
    issuer,
    resource,
    client,
    tokenAlg,
    initialScopes,
    closeOnTokenExpiry,
    log: unfailing(log),
    leaseMs: leaseSeconds * 1000,
    cacheMs: introspection === undefined ? null : introspection.cacheSeconds * 1000,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  };
}

/** True for an address to which tokens and secrets may be sent: https, or http on this machine. */
export function isSecureAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isLocal = url?.protocol === 'http:' && LOOPBACK.test(url.hostname);
  return (
    url !== null && (url.protocol === 'https:' || isLocal) && url.username + url.password === ''
  );
}

/** The address of the protected resource metadata (RFC 9728, 3). */
export function metadataUrlOf(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${METADATA_PATH}${pathname === '/' ? '' : pathname}`;
}

function requireAddress(name: string, value: unknown): void {
  const isPlain = isText(value) && !/[?#]/.test(value) && !value.endsWith('/');
  if (!isPlain || !isSecureAddress(value)) {
    throw new TypeError(
      `"${name}" must be an https address without query, fragment or slash at its end; http only on a loopback host.`,
    );
  }
}

function requireSeconds(name: string, value: unknown, least: number, most: number): void {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
    throw new TypeError(`"${name}" must be a whole number from ${least} to ${most}.`);
  }
}

function requireFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') {
    throw new TypeError(`"${name}" must be a function.`);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A log that fails must not keep connections open. */
function unfailing(log: (entry: GuardLogEntry) => void): (entry: GuardLogEntry) => void {
  return (entry) => {
    try {
      log(entry);
    } catch {
      // There is no other place to report it.
    }
  };
}

function logToConsole({ level, message, reason }: GuardLogEntry): void {
  console[level](`gatehouse guard: ${message}${reason === undefined ? '' : ` (${reason})`}`);
}
