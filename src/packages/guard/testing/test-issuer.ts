import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { importJWK, jwtVerify, type JWTPayload } from 'jose';
import { parseJson } from '../../../common/parse-json.js';
import { SESSION_CLIENT } from '../../../core/policy/admission/scopes.js';
import type { GuardOptions, GuardRuntime } from '../guard-options.js';
import { makeKey, signWith, type TestKey } from './test-keys.js';
import { TestStreams, type TestPoll } from './test-streams.js';

const SESSION_REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
const POLL = 'urn:ietf:rfc:8936';
const TOKEN_SECONDS = 300;
const SESSION_SECONDS = 86_400;

export interface TestIssuerOptions {
  /** Default: `https://backend.test`. */
  readonly resource?: string | undefined;
  /** Default: `ES256`. */
  readonly tokenAlg?: 'ES256' | 'RS256' | undefined;
}

/** A program that acts for a person. `name` and `grant` have defaults. */
export interface TestProgram {
  readonly id: string;
  readonly name?: string | undefined;
  readonly grant?: string | undefined;
  /** Its scopes, with spaces between them. */
  readonly scope: string;
}

/** The session of a token. Each field has a default. */
export interface TestSession {
  readonly account?: string | undefined;
  readonly sid?: string | undefined;
  readonly loginMethod?: string | undefined;
  /** Makes it the token of a program; default: the session is the person's own. */
  readonly program?: TestProgram | undefined;
  readonly login?: string | undefined;
  readonly email?: string | undefined;
  /** Seconds until the token expires; default 300. */
  readonly tokenSeconds?: number | undefined;
  /** Seconds until the session expires; default a day. */
  readonly sessionSeconds?: number | undefined;
}

interface Answer {
  readonly status: number;
  readonly body?: object;
}

interface Received {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly text: string;
  /** Aborts when the guard waits for the answer no more. */
  readonly left: AbortSignal;
}

let signalKey: Promise<TestKey> | undefined;

/** An RSA key takes long to make, so the issuers of a process share one: signals name their issuer. */
function keyOfSignals(): Promise<TestKey> {
  signalKey ??= makeKey('RS256');
  return signalKey;
}

/** Issues tokens and signals over HTTP, as Gatehouse does, for the tests of a backend. */
export class TestIssuer {
  /** False answers 503 to every request, as Gatehouse does without its database. */
  isAvailable = true;
  readonly resource: string;
  private readonly clientId = 'backend';
  private readonly secret: string;
  private readonly streams: TestStreams;
  private readonly ended = new Set<string>();
  private readonly requestCounts = new Map<string, number>();
  private readonly server: Server;

  private constructor(
    private readonly options: TestIssuerOptions,
    private readonly runtime: GuardRuntime,
    private tokenKey: TestKey,
    private readonly signalKey: TestKey,
  ) {
    this.resource = options.resource ?? 'https://backend.test';
    this.secret = runtime.random.secret();
    this.streams = new TestStreams(runtime);
    this.server = createServer((request, response) => void this.respond(request, response));
  }

  static async start(options: TestIssuerOptions, runtime: GuardRuntime): Promise<TestIssuer> {
    const keys = await Promise.all([makeKey(options.tokenAlg ?? 'ES256'), keyOfSignals()]);
    const issuer = new TestIssuer(options, runtime, ...keys);
    issuer.server.listen(0, '127.0.0.1');
    await once(issuer.server, 'listening');
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The options of a guard that accepts the tokens of this issuer. */
  get guardOptions(): Pick<GuardOptions, 'issuer' | 'resource' | 'client' | 'tokenAlg'> {
    const { url: issuer, resource, clientId: id, secret } = this;
    return { issuer, resource, client: { id, secret }, tokenAlg: this.options.tokenAlg };
  }

  /** The private key of access tokens, for tokens that {@link token} does not make. */
  get signingKey(): TestKey {
    return this.tokenKey;
  }

  /** The private key of signals. */
  get signalSigningKey(): TestKey {
    return this.signalKey;
  }

  /** Polls that wait for a signal. */
  get waitingPolls(): number {
    return this.streams.waitingPolls;
  }

  get streamCount(): number {
    return this.streams.count;
  }

  /** Returns how many requests a path got. */
  requestsTo(path: string): number {
    return this.requestCounts.get(path) ?? 0;
  }

  /** Returns an access token, by default of a new session. */
  token(session: TestSession = {}): Promise<string> {
    return signWith(this.tokenKey, 'at+jwt', this.claims(session));
  }

  /** The claims of an access token. */
  claims(session: TestSession = {}): JWTPayload {
    const { random, clock } = this.runtime;
    const { account = random.uuid(), sid = random.uuid(), program, login, email } = session;
    const iat = Math.floor(clock.now() / 1000);
    return {
      iss: this.url,
      aud: this.resource,
      sub: account,
      sid,
      client_id: program?.id ?? SESSION_CLIENT,
      ...(program !== undefined && {
        client_name: program.name ?? program.id,
        grant_id: program.grant ?? random.uuid(),
        scope: program.scope,
      }),
      iat,
      exp: iat + (session.tokenSeconds ?? TOKEN_SECONDS),
      jti: random.uuid(),
      auth_time: iat,
      session_exp: iat + (session.sessionSeconds ?? SESSION_SECONDS),
      login_method: session.loginMethod ?? 'device-key',
      ...(login !== undefined && { login }),
      ...(email !== undefined && { email }),
    };
  }

  /** Ends a session, and signals that to every guard. */
  async endSession(sid: string): Promise<void> {
    this.ended.add(sid);
    await this.signal({
      sub_id: { format: 'complex', session: { format: 'opaque', id: sid } },
      events: {
        [SESSION_REVOKED]: {
          initiating_entity: 'admin',
          reason_admin: { en: 'The session was ended.' },
          event_timestamp: Math.floor(this.runtime.clock.now() / 1000),
        },
      },
    });
  }

  /** Sends a security event token with these claims to every guard. */
  async signal(claims: JWTPayload, key = this.signalKey): Promise<void> {
    const { random, clock } = this.runtime;
    const jti = random.uuid();
    const iat = Math.floor(clock.now() / 1000);
    const common = { iss: this.url, aud: this.resource, iat, jti };
    this.streams.add(jti, await signWith(key, 'secevent+jwt', { ...common, ...claims }));
  }

  /** Deletes the streams of all guards: they cannot know which signals they missed. */
  removeStreams(): void {
    this.streams.clear();
  }

  /** Replaces the key of access tokens, and publishes the old one no more. */
  async replaceKey(): Promise<void> {
    this.tokenKey = await makeKey(this.options.tokenAlg ?? 'ES256');
  }

  async close(): Promise<void> {
    this.streams.wake();
    this.server.close();
    this.server.closeAllConnections();
    if (this.server.listening) {
      await once(this.server, 'close');
    }
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    this.requestCounts.set(pathname, this.requestsTo(pathname) + 1);
    const text = await textOf(request);
    if (text === null) {
      return;
    }
    const left = new AbortController();
    response.once('close', () => left.abort());
    const { status, body } = this.isAvailable
      ? await this.answer(request, { path: pathname, query: searchParams, text, left: left.signal })
      : { status: 503, body: { code: 'unavailable' } };
    response.writeHead(status, {
      date: new Date(this.runtime.clock.now()).toUTCString(),
      'content-type': 'application/json',
      ...(status === 503 && { 'retry-after': '1' }),
    });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  private answer(
    { method = '', headers: { authorization } }: IncomingMessage,
    received: Received,
  ): Answer | Promise<Answer> {
    const { path, text } = received;
    const documents: Readonly<Record<string, object>> = this.documents();
    const document = documents[path];
    if (method === 'GET' && document !== undefined) {
      return { status: 200, body: document };
    }
    if (method === 'POST' && (path === '/v1/oauth/token' || path === '/v1/oauth/introspect')) {
      if (authorization !== this.basic()) {
        return { status: 401, body: { error: 'invalid_client' } };
      }
      const form = new URLSearchParams(text);
      return path === '/v1/oauth/token' ? this.grant(form) : this.introspect(form);
    }
    if (authorization !== `Bearer ${this.secret}`) {
      return { status: 401, body: { error: 'invalid_token' } };
    }
    return this.answerReceiver(method, received);
  }

  private async answerReceiver(
    method: string,
    { path, query, text, left }: Received,
  ): Promise<Answer> {
    if (path === '/v1/ssf/streams' && method === 'POST') {
      return { status: 201, body: this.describe(this.streams.create()) };
    }
    if (path === '/v1/ssf/streams' && method === 'DELETE') {
      return { status: this.streams.delete(query.get('stream_id') ?? '') ? 204 : 404 };
    }
    const poll = (parseJson(text) ?? {}) as TestPoll;
    const body = await this.streams.poll(path.split('/').at(-1) ?? '', poll, left);
    return body === null ? { status: 404 } : { status: 200, body };
  }

  private documents(): Readonly<Record<string, object>> {
    const { url } = this;
    const jwks_uri = `${url}/v1/oauth/jwks`;
    return {
      '/.well-known/oauth-authorization-server': {
        issuer: url,
        jwks_uri,
        response_types_supported: [],
        token_endpoint: `${url}/v1/oauth/token`,
        introspection_endpoint: `${url}/v1/oauth/introspect`,
      },
      '/.well-known/ssf-configuration': {
        issuer: url,
        jwks_uri,
        spec_version: '1_0',
        delivery_methods_supported: [POLL],
        configuration_endpoint: `${url}/v1/ssf/streams`,
        authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
      },
      '/v1/oauth/jwks': { keys: [this.tokenKey.publicJwk, this.signalKey.publicJwk] },
    };
  }

  private describe(id: string): object {
    return {
      stream_id: id,
      iss: this.url,
      aud: this.resource,
      delivery: { method: POLL, endpoint_url: `${this.url}/v1/ssf/poll/${id}` },
      events_delivered: [SESSION_REVOKED],
    };
  }

  private grant(form: URLSearchParams): Answer {
    return form.get('grant_type') === 'client_credentials'
      ? {
          status: 200,
          body: { access_token: this.secret, token_type: 'Bearer', expires_in: TOKEN_SECONDS },
        }
      : { status: 400, body: { error: 'unsupported_grant_type' } };
  }

  private async introspect(form: URLSearchParams): Promise<Answer> {
    const { alg, publicJwk } = this.tokenKey;
    const currentDate = new Date(this.runtime.clock.now());
    const claims = await jwtVerify(form.get('token') ?? '', await importJWK(publicJwk, alg), {
      issuer: this.url,
      audience: this.resource,
      typ: 'at+jwt',
      currentDate,
    }).then(
      ({ payload }) => payload,
      () => null,
    );
    const isLive = claims !== null && !this.ended.has(String(claims['sid']));
    return { status: 200, body: isLive ? { active: true, ...claims } : { active: false } };
  }

  private basic(): string {
    return `Basic ${Buffer.from(`${this.clientId}:${this.secret}`).toString('base64')}`;
  }
}

/** @returns null where the backend ended its request, as a test does that ends its backend */
async function textOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString('utf8');
}
