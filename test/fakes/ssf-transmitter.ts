import { randomUUID } from 'node:crypto';
import {
  decodeJwt,
  exportJWK,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
  type JWK,
} from 'jose';
import {
  startLocalServer,
  type Answer,
  type LocalRequest,
  type LocalServer,
} from '../helpers/local-server.js';

export const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/';
export const RISC = 'https://schemas.openid.net/secevent/risc/event-type/';
export const SSF = 'https://schemas.openid.net/secevent/ssf/event-type/';
const PUSH = 'urn:ietf:rfc:8935';

/** Claims and header that replace the correct ones. */
export interface EventChanges {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly event?: Readonly<Record<string, unknown>>;
  readonly isForged?: boolean;
  readonly isUnsigned?: boolean;
}

interface Delivery {
  readonly method: string;
  readonly endpoint_url?: string;
  readonly authorization_header?: string;
}

/** A stream of the transmitter, with the events that wait in it. */
export interface TransmittedStream {
  readonly id: string;
  readonly audience: string;
  delivery: Delivery;
  description: string | undefined;
  requested: readonly string[];
  status: string;
  reason: string | undefined;
  readonly queue: Map<string, string>;
  readonly acknowledged: string[];
  readonly errors: Map<string, string>;
}

type Body = Readonly<Record<string, unknown>>;

/** A transmitter of security events (OpenID SSF 1.0) with a path in its issuer. */
export class SsfTransmitter {
  /** While true, its documents are answered with 503. */
  isDown = false;
  /** While true, its keys are answered with 503. */
  areKeysDown = false;
  /** The issuer that it names in the streams that it makes. */
  streamIssuer: string | null = null;
  /** The events of verification get these changes, once. */
  wrongVerification: EventChanges | null = null;
  /** Tokens of the client that are valid. */
  readonly tokens = new Set<string>(['a-management-token-of-the-spec-of-streams']);
  readonly streams = new Map<string, TransmittedStream>();
  /** Method and path of each request to its API, in order. */
  readonly requests: string[] = [];
  /** Polls that were open at once, at most. */
  mostPolls = 0;
  tokenSeconds = 300;
  /** Where the server that it pushes to listens, whatever its public address is. */
  pushOrigin: string | null = null;
  /** A poll waits for an event for so long. */
  waitMs = 3000;
  private polls = 0;
  private kid = 'first';
  private server!: LocalServer;
  private privateKey!: CryptoKey;
  private jwks: readonly JWK[] = [];

  private constructor(private readonly audience: string) {}

  static async start(audience: string): Promise<SsfTransmitter> {
    const transmitter = new SsfTransmitter(audience);
    transmitter.server = await startLocalServer((request) => transmitter.answer(request));
    await transmitter.rotate('first');
    return transmitter;
  }

  get issuer(): string {
    return `${this.server.url}/tenant`;
  }

  get tokenUrl(): string {
    return `${this.server.url}/token`;
  }

  /** The only stream. */
  get stream(): TransmittedStream {
    const [stream] = this.streams.values();
    if (stream === undefined) {
      throw new Error('The transmitter has no stream.');
    }
    return stream;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  async rotate(kid: string): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    this.kid = kid;
    this.privateKey = privateKey;
    this.jwks = [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }];
  }

  async event(type: string, subject: unknown, changes: EventChanges = {}): Promise<string> {
    const claims = {
      iss: this.issuer,
      aud: this.audience,
      iat: Math.floor(Date.now() / 1000),
      jti: randomUUID(),
      txn: randomUUID(),
      sub_id: subject,
      events: { [type]: { ...changes.event } },
      ...changes.claims,
    };
    const payload = JSON.parse(JSON.stringify(claims)) as Record<string, unknown>;
    if (changes.isUnsigned === true) {
      return new UnsecuredJWT(payload).encode();
    }
    const header = { alg: 'ES256', kid: this.kid, typ: 'secevent+jwt', ...changes.header };
    const other = changes.isForged === true ? await generateKeyPair('ES256') : null;
    return new SignJWT(payload)
      .setProtectedHeader(header)
      .sign(other?.privateKey ?? this.privateKey);
  }

  /** Returns an event with another text of its claims, under a signature that no key verifies. */
  reworded(token: string, reword: (claims: string) => string): string {
    const [header = '', claims = '', signature = ''] = token.split('.');
    const text = reword(Buffer.from(claims, 'base64url').toString('utf8'));
    return [header, Buffer.from(text).toString('base64url'), signature].join('.');
  }

  /** Puts an event into the only stream, or pushes it. @returns its `jti`, and the answer to a push */
  async transmit(type: string, subject: unknown, changes: EventChanges = {}) {
    const { stream } = this;
    const claims = { aud: stream.audience, ...changes.claims };
    const token = await this.event(type, subject, { ...changes, claims });
    return this.enqueue(token);
  }

  /** Puts a token into the only stream, or pushes it. */
  async enqueue(
    token: string,
  ): Promise<{ readonly jti: string; readonly answer: Response | null }> {
    const { stream } = this;
    const jti = String(decodeJwt(token).jti);
    if (stream.delivery.method === PUSH) {
      const authorization = stream.delivery.authorization_header ?? '';
      const { pathname, origin } = new URL(stream.delivery.endpoint_url ?? '');
      const answer = await fetch(`${this.pushOrigin ?? origin}${pathname}`, {
        ...{ method: 'POST', body: token },
        headers: { authorization, 'content-type': 'application/secevent+jwt' },
      });
      return { jti, answer };
    }
    stream.queue.set(jti, token);
    return { jti, answer: null };
  }

  private async answer(request: LocalRequest): Promise<Answer> {
    const { pathname } = request.url;
    if (this.isDown || (this.areKeysDown && pathname === '/keys')) {
      return { status: 503 };
    }
    if (pathname === '/.well-known/ssf-configuration/tenant') {
      return { status: 200, json: this.document() };
    }
    if (pathname === '/keys') {
      return { status: 200, json: { keys: this.jwks } };
    }
    if (pathname === '/token') {
      const token = `${randomUUID()}${randomUUID()}`;
      this.tokens.add(token);
      const answer = { access_token: token, token_type: 'Bearer', expires_in: this.tokenSeconds };
      return { status: 200, json: answer };
    }
    this.requests.push(`${request.method} ${pathname}`);
    const token = /^Bearer (.+)$/.exec(request.headers['authorization'] ?? '')?.[1];
    return this.tokens.has(token ?? '') ? this.manage(request) : { status: 401 };
  }

  private document() {
    const { url } = this.server;
    return {
      ...{ spec_version: '1_0', issuer: this.issuer, jwks_uri: `${url}/keys` },
      configuration_endpoint: `${url}/streams`,
      status_endpoint: `${url}/status`,
      verification_endpoint: `${url}/verify`,
    };
  }

  private async manage({ method, url, body: text }: LocalRequest): Promise<Answer> {
    const body = (text === '' ? {} : JSON.parse(text)) as Body;
    const poll = /^\/poll\/(.+)$/.exec(url.pathname)?.[1];
    const id = poll ?? url.searchParams.get('stream_id') ?? body['stream_id'];
    const stream = this.streams.get(String(id));
    if (url.pathname === '/streams' && id === undefined) {
      return method === 'POST'
        ? { status: 201, json: this.shown(this.create(body)) }
        : { status: 200, json: [...this.streams.values()].map((one) => this.shown(one)) };
    }
    if (stream === undefined) {
      return { status: 404 };
    }
    switch (`${method} ${url.pathname.split('/')[1]}`) {
      case 'GET streams':
        return { status: 200, json: this.shown(stream) };
      case 'PATCH streams':
        stream.delivery = (body['delivery'] ?? stream.delivery) as Delivery;
        return { status: 200, json: this.shown(stream) };
      case 'DELETE streams':
        this.streams.delete(stream.id);
        return { status: 204 };
      case 'POST status':
        stream.status = String(body['status']);
        return { status: 200, json: { stream_id: stream.id, status: stream.status } };
      case 'GET status': {
        const { status, reason } = stream;
        return { status: 200, json: { stream_id: stream.id, status, reason } };
      }
      case 'POST verify':
        void this.verify(stream, body['state']);
        return { status: 204 };
      case 'POST poll':
        return this.poll(stream, body);
      default:
        return { status: 405 };
    }
  }

  private create(body: Body): TransmittedStream {
    const id = randomUUID();
    const given = body['delivery'] as Delivery;
    const stream: TransmittedStream = {
      ...{ id, audience: `${this.audience}/of-the-stream`, status: 'enabled', reason: undefined },
      delivery:
        given.method === PUSH ? given : { ...given, endpoint_url: `${this.server.url}/poll/${id}` },
      description: body['description'] as string | undefined,
      requested: body['events_requested'] as string[],
      ...{ queue: new Map(), acknowledged: [], errors: new Map() },
    };
    this.streams.set(id, stream);
    return stream;
  }

  private shown({ id, audience, delivery, description, requested }: TransmittedStream) {
    const { method, endpoint_url } = delivery;
    return {
      ...{ stream_id: id, iss: this.streamIssuer ?? this.issuer, aud: audience, description },
      ...{ delivery: { method, endpoint_url }, events_delivered: requested },
    };
  }

  private async verify(stream: TransmittedStream, state: unknown): Promise<void> {
    const changes = this.wrongVerification ?? {};
    this.wrongVerification = null;
    const subject = { format: 'opaque', id: stream.id };
    const event = { state, ...changes.event };
    await this.transmit(`${SSF}verification`, subject, { ...changes, event });
  }

  private async poll(stream: TransmittedStream, body: Body): Promise<Answer> {
    for (const jti of body['ack'] as string[]) {
      stream.queue.delete(jti);
      stream.acknowledged.push(jti);
    }
    for (const [jti, { err }] of Object.entries(
      (body['setErrs'] ?? {}) as Record<string, { err: string }>,
    )) {
      stream.queue.delete(jti);
      stream.errors.set(jti, err);
    }
    this.polls += 1;
    this.mostPolls = Math.max(this.mostPolls, this.polls);
    const end = Date.now() + (body['returnImmediately'] === true ? 0 : this.waitMs);
    while (stream.queue.size === 0 && Date.now() < end && this.streams.has(stream.id)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    this.polls -= 1;
    const waiting = stream.status === 'enabled' ? [...stream.queue].slice(0, 100) : [];
    return {
      status: 200,
      json: { sets: Object.fromEntries(waiting), moreAvailable: stream.queue.size > 100 },
    };
  }
}
