/** An http(s) address without query, fragment and credentials, normalized as browsers do (WHATWG URL). */
export interface ServerAddress {
  readonly origin: string;
  /** IPv6 addresses in brackets. */
  readonly hostname: string;
  /** Without slashes at its end; empty for the root. */
  readonly path: string;
}

/** Normalizes a server URL; null when it is not http(s), or has a query, fragment or credentials. */
export function parseServerUrl(text: string): string | null {
  const address = readServerAddress(text);
  return address === null ? null : `${address.origin}${address.path}`;
}

/** @throws TypeError where {@link parseServerUrl} returns null */
export function requireServerUrl(text: string): string {
  const { origin, path } = serverAddressOf(text);
  return `${origin}${path}`;
}

/** @throws TypeError where {@link parseServerUrl} returns null; its message has no credentials */
export function serverAddressOf(serverUrl: string): ServerAddress {
  const address = readServerAddress(serverUrl);
  if (address === null) {
    throw new TypeError(`${shownAddress(serverUrl)} is not the address of a server.`);
  }
  return address;
}

/** Returns an invalid address for a message, without what may be a password in it. */
export function shownAddress(address: unknown): string {
  const isSafe = typeof address === 'string' && /^[^@\s]{1,200}$/.test(address);
  return isSafe ? address : 'The given text';
}

function readServerAddress(text: string): ServerAddress | null {
  hasStandardUrl ??= probeUrl();
  return hasStandardUrl ? readWithUrl(text) : readServerAddressStrictly(text);
}

let hasStandardUrl: boolean | null = null;

/** React Native's own URL neither checks nor normalizes, and bare engines have none. */
function probeUrl(): boolean {
  try {
    return new URL('HTTPS://A.Example:443/b/../c').href === 'https://a.example/c';
  } catch {
    return false;
  }
}

function readWithUrl(text: string): ServerAddress | null {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  const { protocol, origin, hostname, pathname, search, hash, username, password } = url;
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && `${search}${hash}${username}${password}` === ''
    ? { origin, hostname, path: pathname.replace(/\/+$/, '') }
    : null;
}

const ADDRESS =
  /^(https?):\/\/(\[[0-9a-f:]+\]|[\w.-]+)(?::(\d{0,5}))?(\/[\w\-.~!$&'()*+,;=:@%/]*)?$/i;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
const DOMAIN = /^[a-z\d_-]+(?:\.[a-z\d_-]+)*\.?$/;
/** The last label makes a host an IPv4 address, in one of many notations. */
const NUMERIC_HOST = /(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/** Reads an ASCII address without the platform's `URL`, with the same result; refuses others. */
export function readServerAddressStrictly(text: string): ServerAddress | null {
  const [, scheme = '', host = '', port = '', path = ''] = ADDRESS.exec(text) ?? [];
  const protocol = scheme.toLowerCase();
  const hostname = readHost(host.toLowerCase());
  if (hostname === null || Number(port) > 65_535 || DOT_SEGMENT.test(path)) {
    return null;
  }
  const isDefault = port === '' || Number(port) === DEFAULT_PORTS[protocol];
  const origin = `${protocol}://${hostname}${isDefault ? '' : `:${Number(port)}`}`;
  return { origin, hostname, path: path.replace(/\/+$/, '') };
}

function readHost(host: string): string | null {
  if (host.startsWith('[')) {
    return readIpv6(host.slice(1, -1));
  }
  const isHost = NUMERIC_HOST.test(host) ? IPV4.test(host) : DOMAIN.test(host);
  return isHost ? host : null;
}

const IPV6_GROUPS = 8;

/** In brackets, and in the one form of RFC 5952. */
function readIpv6(text: string): string | null {
  const [head = [], tail = null, ...more] = text
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':')));
  const given = [...head, ...(tail ?? [])];
  const missing = IPV6_GROUPS - given.length;
  const isValid = tail === null ? missing === 0 : missing > 0 && more.length === 0;
  if (!isValid || !given.every((group) => /^[\da-f]{1,4}$/.test(group))) {
    return null;
  }
  const zeros = Array.from({ length: missing }, () => '0');
  const groups = [...head, ...zeros, ...(tail ?? [])].map((one) => parseInt(one, 16).toString(16));
  const runs = groups.join(':').match(/\b0(?::0\b)+/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  const whole = `:${groups.join(':')}:`;
  const short = longest === '' ? whole : whole.replace(`:${longest}:`, '::');
  return `[${short.replace(/^:([^:])/, '$1').replace(/([^:]):$/, '$1')}]`;
}
