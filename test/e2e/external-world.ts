import { createHash, randomBytes } from 'node:crypto';
import {
  call,
  challengedLogin,
  type Answer,
  type DeviceKey,
  type Json,
  type Login,
} from '../helpers/client.js';
import { freePort } from '../helpers/service-process.js';
import { startServer, type Server, type ServerHost } from '../helpers/server.js';
import { createStore, type Store } from '../helpers/server-store.js';
import { startOidc, type Oidc } from './external-oidc.js';
import { Browser } from './external-browser.js';

/** Where browsers return in these tests. */
export const RETURN_BASE = 'https://app.example/oauth';

/** A server with two providers, `okta` and `acme`, of which a real OpenID Provider is behind both. */
export interface World {
  readonly server: Server;
  readonly store: Store;
  readonly oidc: Oidc;
  /** What the server was started with, beside its data. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the server and starts another on the same data, at the same address. */
  restart(): Promise<Server>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Laid over each provider's entry. */
  readonly entry?: Json;
  readonly host?: ServerHost;
}

export async function startWorld({
  env = {},
  entry = {},
  ...options
}: WorldOptions = {}): Promise<World> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const ids = ['okta', 'acme'];
  const oidc = await startOidc(ids.map((id) => `${url}/v1/oauth/${id}/callback`));
  const store = await createStore();
  const common = {
    SERVICE_PUBLIC_URL: url,
    SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: RETURN_BASE,
    AUTH_SIGNUP_PROVIDERS: 'okta',
    AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify(
      ids.map((id) => ({ ...providerEntry(id, oidc), ...entry })),
    ),
    ...env,
  };
  const settled = { ...common, PORT: String(port) };
  let server = await startServer({ ...options, env: settled, store });
  return {
    server,
    store,
    oidc,
    env: settled,
    restart: async () => {
      await server.stop();
      server = await startServer({ ...options, env: settled, store });
      return server;
    },
    stop: async () => {
      await server.stop();
      await oidc.stop();
      await store.drop();
    },
  };
}

export function providerEntry(id: string, oidc: Oidc): Json {
  return {
    id,
    type: 'oidc',
    displayName: `The ${id} provider`,
    issuer: oidc.issuer,
    clientId: oidc.clientId,
    clientSecret: oidc.clientSecret,
    httpTimeoutSeconds: 120,
    scopes: ['openid', 'profile', 'email', 'groups', 'offline_access'],
    storeRefreshToken: true,
    claims: { login: 'preferred_username', email: 'email', groups: 'groups' },
    allow: { groupsAny: ['engineering'] },
    fetchUserInfo: true,
  };
}

/** A login that was begun: the address to open, and the secret that finishes it. */
export interface Begun {
  readonly url: string;
  readonly proof: string;
}

export function hashOf(proof: string): string {
  return createHash('sha256').update(proof).digest('hex');
}

export function params(server: Server, provider: string, query: Json): Promise<Answer> {
  const search = new URLSearchParams(query as Record<string, string>).toString();
  return call(server, 'GET', `/v1/auth/external/${provider}/params?${search}`);
}

export async function begin(server: Server, provider = 'okta', more: Json = {}): Promise<Begun> {
  const proof = randomBytes(24).toString('base64url');
  const answer = await params(server, provider, {
    mode: 'keyed',
    proofHash: hashOf(proof),
    ...more,
  });
  return { url: urlOf(answer), proof };
}

export async function beginConnect(
  server: Server,
  token: string,
  provider = 'okta',
): Promise<string> {
  return urlOf(await call(server, 'GET', `/v1/connect/external/${provider}/params`, { token }));
}

function urlOf({ status, body, text }: Answer): string {
  if (status !== 200 || typeof body['url'] !== 'string') {
    throw new Error(`It did not begin: ${status} ${text}`);
  }
  return body['url'];
}

/** Logs in at the provider and returns to the client, with the parameters of the return address. */
export async function comeBack(url: string, user: string): Promise<Record<string, string>> {
  const location = await browserOf(user).visit(url, RETURN_BASE);
  return Object.fromEntries(location.searchParams);
}

/** The address of the callback that the provider sends the browser to, not yet opened. */
export function callbackOf(server: Server, url: string, user: string): Promise<URL> {
  return browserOf(user).visit(url, `${server.url}/v1/oauth/`);
}

function browserOf(user: string): Browser {
  return new Browser({ login: user, password: 'any password' });
}

export interface Finalize {
  readonly provider?: string;
  readonly proof?: string;
  readonly more?: Json;
}

export async function finalize(
  server: Server,
  pending: string | undefined,
  key: DeviceKey,
  { provider = 'okta', proof, more = {} }: Finalize = {},
): Promise<Answer> {
  return call(server, 'POST', `/v1/auth/external/${provider}/finalize`, {
    body: {
      ...(await challengedLogin(server, key)),
      pending,
      ...(proof !== undefined && { proof }),
      ...more,
    },
  });
}

/** Everything from the first click to the last answer. */
export async function loginThrough(
  server: Server,
  user: string,
  key: DeviceKey,
  provider = 'okta',
): Promise<Answer<Login & Json>> {
  const { url, proof } = await begin(server, provider);
  const { pending } = await comeBack(url, user);
  return (await finalize(server, pending, key, { provider, proof })) as Answer<Login & Json>;
}

/** Links an identity to the account of the token. */
export async function connectThrough(
  server: Server,
  user: string,
  token: string,
  provider = 'okta',
): Promise<Answer> {
  const { pending } = await comeBack(await beginConnect(server, token, provider), user);
  return connectFinalize(server, pending, token, provider);
}

export function connectFinalize(
  server: Server,
  pending: string | undefined,
  token: string,
  provider = 'okta',
): Promise<Answer> {
  const path = `/v1/connect/external/${provider}/finalize`;
  return call(server, 'POST', path, { token, body: { pending } });
}

export function unlink(server: Server, token: string, provider = 'okta'): Promise<Answer> {
  return call(server, 'DELETE', `/v1/connect/external/${provider}`, { token });
}

export function profile(server: Server, token: string): Promise<Answer> {
  return call(server, 'GET', '/v1/account/profile', { token });
}
