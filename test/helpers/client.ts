import {
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type ED25519KeyPairOptions,
} from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

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
  /** Sent as JSON; a string or bytes are sent as they are. */
  readonly body?: unknown;
  /** undefined leaves out one that would be sent otherwise. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A server at an address. */
export interface Target {
  readonly url: string;
}

/** Of {@link call}: used again, also by servers that take no new ones. */
export const keptConnections = new Agent({ keepAlive: true, maxSockets: 256 });

/** One HTTP call. `path` goes out as it is: nothing normalises it. */
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
  sent.end(bytes);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const text = await readText(answer);
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: parse(text) as Body,
    text,
  };
}

function toBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) {
    return body;
  }
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

async function readText(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** A client's Ed25519 key pair. */
export interface DeviceKey {
  /** The raw 32 bytes. */
  readonly raw: Buffer;
  readonly publicKey: string;
  sign(challenge: Buffer): Buffer;
}

export function makeDeviceKey(): DeviceKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', ENCODED);
  const key = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
  const raw = publicKey.subarray(-32);
  return {
    raw,
    publicKey: raw.toString('base64'),
    sign: (challenge) => sign(null, challenge, key),
  };
}

/**
 * How new keys are given out: Node 20 stands still for good where it collects the garbage of
 * `generateKeyPairSync` in the middle of `export({ format: 'jwk' })` of that key.
 */
export const ENCODED: ED25519KeyPairOptions<'der', 'der'> = {
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'der' },
};

export interface LoginBody {
  readonly publicKey: string;
  readonly challenge: string;
  readonly signature: string;
}

/** A new challenge of the server, as the bytes to sign. */
export async function issueChallenge(target: Target, options: CallOptions = {}): Promise<Buffer> {
  const { status, body, text } = await call(target, 'POST', '/v1/auth/challenge', options);
  if (status !== 200) {
    throw new Error(`The challenge was answered ${status}: ${text}`);
  }
  return Buffer.from(String(body['challenge']), 'base64');
}

/** The body of `POST /v1/auth` over a new challenge of the server. */
export async function challengedLogin(
  target: Target,
  key: DeviceKey,
  options: CallOptions = {},
): Promise<LoginBody> {
  return loginBody(key, await issueChallenge(target, options));
}

/** The body of `POST /v1/auth`, by default over bytes of the client's own, as older clients send. */
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

/** Logs in with a device key, a fresh one by default. Fails unless the server says yes. */
export async function logIn(target: Target, key: DeviceKey = makeDeviceKey()): Promise<Login> {
  const { status, body, text } = await call<Login>(target, 'POST', '/v1/auth', {
    body: await challengedLogin(target, key),
  });
  if (status !== 200) {
    throw new Error(`Login was answered ${status}: ${text}`);
  }
  return body;
}

/** The parts of a refusal that programs read. */
export function refusalOf({ status, body }: Answer): { status: number; code: unknown } {
  return { status, code: body['code'] };
}

const ID = /^[\w.-]{1,128}$/;

/** Fails unless the answer is a refusal in the contract's one shape. */
export function expectErrorShape(answer: Answer): void {
  expect(shapeFaultOf(answer)).toBeNull();
}

/**
 * What of {@link expectErrorShape} the answer breaks; null = nothing. For thousands of answers: an
 * `expect` costs more than a request.
 */
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
