import {
  createPrivateKey,
  createPublicKey,
  randomBytes,
  sign,
  type ED25519KeyPairOptions,
} from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { answerTo } from './local-server.js';

export type Json = Readonly<Record<string, unknown>>;

export interface Answer<Body = Json> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; null when there is none. */
  readonly body: Body;
  readonly text: string;
}

export interface CallOptions {
  readonly token?: string;
  /** A body that is sent as JSON. A string or bytes are sent unchanged. */
  readonly body?: unknown;
  /** The value undefined omits a default header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A server at an address. */
export interface Target {
  readonly url: string;
}

/**
 * Connections of {@link call}, which are reused, also by servers that accept no new ones. An idle one
 * ends before a server closes it, after 72 seconds: a request at that moment would fail. The oldest one is used first:
 * Node looks whether that one has just ended, and a request on another would never be answered.
 */
export const keptConnections = new Agent({
  ...{ keepAlive: true, scheduling: 'fifo', maxSockets: 256 },
  timeout: 60_000,
});

/** Sends one HTTP call. The `path` is sent unchanged. */
export async function call<Body = Json>(
  { url }: Target,
  method: string,
  path: string,
  { token, body, headers }: CallOptions = {},
): Promise<Answer<Body>> {
  const { hostname, port } = new URL(url);
  const bytes = body === undefined ? undefined : toBytes(body);
  const all = {
    ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...headers,
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  const sent = request({
    agent: keptConnections,
    hostname,
    port,
    method,
    path,
    headers: Object.fromEntries(given),
  });
  const { status, answer, text } = await answerTo(sent, bytes);
  return { status, headers: answer.headers, body: parse(text) as Body, text };
}

function toBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) {
    return body;
  }
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function parse(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** The Ed25519 key pair of a client. */
export interface DeviceKey {
  readonly raw: Buffer;
  readonly publicKey: string;
  sign(challenge: Buffer): Buffer;
}

/** Makes the key of a seed of 32 bytes, by default a new one. */
export function makeDeviceKey(seed = randomBytes(32)): DeviceKey {
  const der = Buffer.concat([ED25519_PKCS8_PREFIX, seed]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    raw,
    publicKey: raw.toString('base64'),
    sign: (challenge) => sign(null, challenge, key),
  };
}

/** All bytes of a private Ed25519 key in DER before its seed (RFC 8410, 7). */
const ED25519_PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Node 20 hangs if it collects the garbage of `generateKeyPairSync` during an export as JWK. */
export const ENCODED: ED25519KeyPairOptions<'der', 'der'> = {
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'der' },
};

export interface LoginBody {
  readonly publicKey: string;
  readonly challenge: string;
  readonly signature: string;
}

/** Requests a challenge of the server, as the bytes to sign. */
export async function issueChallenge(target: Target, options: CallOptions = {}): Promise<Buffer> {
  const { status, body, text } = await call(target, 'POST', '/v1/auth/challenge', options);
  if (status !== 200) {
    throw new Error(`The challenge was answered ${status}: ${text}`);
  }
  return Buffer.from(String(body['challenge']), 'base64');
}

/** Returns the body of `POST /v1/auth` with a new challenge of the server. */
export async function challengedLogin(
  target: Target,
  key: DeviceKey,
  options: CallOptions = {},
): Promise<LoginBody> {
  return loginBody(key, await issueChallenge(target, options));
}

/** Uses bytes of the client by default, as older clients do. */
export function loginBody(key: DeviceKey, challenge: Buffer = randomBytes(32)): LoginBody {
  return {
    publicKey: key.publicKey,
    challenge: challenge.toString('base64'),
    signature: key.sign(challenge).toString('base64'),
  };
}

export interface Login {
  readonly success: boolean;
  readonly token: string;
  readonly accountId: string;
  readonly created: boolean;
}

/** Logs in with a device key, by default a new one. Fails if the server refuses. */
export async function logIn(target: Target, key: DeviceKey = makeDeviceKey()): Promise<Login> {
  const { status, body, text } = await call<Login>(target, 'POST', '/v1/auth', {
    body: await challengedLogin(target, key),
  });
  if (status !== 200) {
    throw new Error(`Login was answered ${status}: ${text}`);
  }
  return body;
}

/** Returns the parts of a refusal that programs read. */
export function refusalOf({ status, body }: Answer): { status: number; code: unknown } {
  return { status, code: body['code'] };
}

const ID = /^[\w.-]{1,128}$/;

/** Fails unless the answer is a refusal in the documented shape. */
export function expectErrorShape(answer: Answer): void {
  expect(shapeFaultOf(answer)).toBeNull();
}

/** Serves thousands of answers: an `expect` costs more than a request. */
export function shapeFaultOf({ status, headers, body, text }: Answer): string | null {
  const { statusCode, code, error, message, requestId } = body ?? {};
  const rules: readonly [string, boolean][] = [
    ['JSON', /^application\/json/.test(headers['content-type'] ?? '')],
    ['the status in the body', statusCode === status],
    ['a code', typeof code === 'string' && /^[a-z][a-z0-9-]*$/.test(code)],
    ['the code as error', error === code],
    ['a message', typeof message === 'string' && message !== ''],
    ['a request id', typeof requestId === 'string' && ID.test(requestId)],
    ['when to retry', (status !== 429 && status !== 503) || Number(headers['retry-after']) > 0],
    ['no detail of the code', !/node_modules|at \w+ \(|select |insert |error:/i.test(text)],
  ];
  const broken = rules.filter(([, holds]) => !holds).map(([name]) => name);
  return broken.length === 0
    ? null
    : `has not: ${broken.join(', ')}; ${status} ${text.slice(0, 500)}`;
}
