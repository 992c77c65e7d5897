import * as v from 'valibot';
import { readJson, UpstreamError, type UpstreamHttp } from '../http/upstream-http.js';
import type { ManagementTokens } from './management-tokens.js';
import type { TransmitterMetadata } from './transmitter-metadata.js';

export const PUSH_DELIVERY = 'urn:ietf:rfc:8935';
export const POLL_DELIVERY = 'urn:ietf:rfc:8936';

const MAX_EVENTS = 100;
const MAX_STREAMS = 1000;

const NAME = v.pipe(v.string(), v.nonEmpty(), v.maxLength(512));
const AUDIENCE = v.pipe(
  v.union([NAME, v.array(NAME)]),
  v.transform((given): readonly string[] => [given].flat()),
  v.minLength(1),
  v.maxLength(20),
);

const STREAM = v.object({
  stream_id: NAME,
  iss: v.string(),
  aud: AUDIENCE,
  delivery: v.object({ method: v.string(), endpoint_url: v.optional(v.pipe(v.string(), v.url())) }),
  events_delivered: v.optional(v.array(v.string()), []),
  description: v.optional(v.string()),
});
const STREAMS = v.pipe(
  v.union([v.array(STREAM), STREAM]),
  v.transform((given) => [given].flat()),
  v.maxLength(MAX_STREAMS),
);
const STATUS = v.object({
  status: v.picklist(['enabled', 'paused', 'disabled']),
  reason: v.optional(v.pipe(v.string(), v.maxLength(1024))),
});
const POLLED = v.object({
  sets: v.optional(v.record(NAME, v.string()), {}),
  moreAvailable: v.optional(v.boolean(), false),
});

/** The configuration of a stream (SSF 1.0, 8.1.1). */
export type StreamConfiguration = v.InferOutput<typeof STREAM>;
type TransmitterStatus = v.InferOutput<typeof STATUS>;

/** How the events of a new stream are delivered. */
export interface StreamDelivery {
  readonly method: string;
  readonly endpoint_url?: string;
  /** The value of the header `Authorization` of deliveries. */
  readonly authorization_header?: string;
}

export interface StreamRequest {
  readonly delivery: StreamDelivery;
  readonly events_requested: readonly string[];
  readonly description?: string;
}

/** RFC 8936, 2.2. */
export interface PollRequest {
  readonly ack: readonly string[];
  readonly setErrs: Readonly<
    Record<string, { readonly err: string; readonly description: string }>
  >;
  readonly returnImmediately: boolean;
}

/** RFC 8936, 2.3: the events by their `jti`. */
export type PolledEvents = v.InferOutput<typeof POLLED>;

/** The transmitter answered, and refused. */
export class StreamRefusedError extends Error {
  override readonly name = 'StreamRefusedError';

  constructor(readonly reason: 'unauthorized' | 'missing' | 'exists' | 'refused' | 'unsupported') {
    super(`The transmitter refused the request: ${reason}`);
  }
}

const REASONS: Readonly<Record<number, StreamRefusedError['reason']>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'missing',
  409: 'exists',
};

/** Manages and polls streams by the API of a transmitter (SSF 1.0, 8.1; RFC 8936). */
export class StreamClient {
  constructor(
    private readonly metadata: TransmitterMetadata,
    private readonly tokens: ManagementTokens,
    private readonly http: UpstreamHttp,
    private readonly pollHttp: UpstreamHttp,
  ) {}

  /** @throws StreamRefusedError, UpstreamError; so do the others */
  async list(): Promise<StreamConfiguration[]> {
    const response = await this.send('GET', await this.configurationEndpoint());
    return readJson(response, STREAMS);
  }

  async create(request: StreamRequest): Promise<StreamConfiguration> {
    const response = await this.send('POST', await this.configurationEndpoint(), request);
    return this.checked(await readJson(response, STREAM));
  }

  async read(streamId: string): Promise<StreamConfiguration> {
    const response = await this.send('GET', of(await this.configurationEndpoint(), streamId));
    return this.checked(await readJson(response, STREAM));
  }

  async update(streamId: string, request: StreamRequest): Promise<StreamConfiguration> {
    const body = { stream_id: streamId, ...request };
    const response = await this.send('PATCH', await this.configurationEndpoint(), body);
    return this.checked(await readJson(response, STREAM));
  }

  async remove(streamId: string): Promise<void> {
    await this.send('DELETE', of(await this.configurationEndpoint(), streamId));
  }

  async status(streamId: string): Promise<TransmitterStatus> {
    const { statusEndpoint } = await this.metadata.current();
    return readJson(await this.send('GET', of(required(statusEndpoint), streamId)), STATUS);
  }

  async enable(streamId: string): Promise<void> {
    const { statusEndpoint } = await this.metadata.current();
    await this.send('POST', required(statusEndpoint), { stream_id: streamId, status: 'enabled' });
  }

  /** Asks for a verification event, which repeats the state. */
  async verify(streamId: string, state: string): Promise<void> {
    const { verificationEndpoint } = await this.metadata.current();
    await this.send('POST', required(verificationEndpoint), { stream_id: streamId, state });
  }

  /** Acknowledges events, and waits for others unless `returnImmediately`. */
  async poll(
    pollUrl: string,
    { ack, setErrs, returnImmediately }: PollRequest,
    signal: AbortSignal,
  ): Promise<PolledEvents> {
    const hasErrors = Object.keys(setErrs).length > 0;
    const body = { maxEvents: MAX_EVENTS, returnImmediately, ack, ...(hasErrors && { setErrs }) };
    return readJson(await this.send('POST', pollUrl, body, signal), POLLED);
  }

  /** SSF 1.0, 8.1.1.1: a stream of another issuer is not of this transmitter. */
  private async checked(stream: StreamConfiguration): Promise<StreamConfiguration> {
    if (stream.iss !== this.metadata.issuer) {
      throw new UpstreamError('unexpected_answer');
    }
    return Promise.resolve(stream);
  }

  private async configurationEndpoint(): Promise<string> {
    return required((await this.metadata.current()).configurationEndpoint);
  }

  private async send(
    method: string,
    address: string,
    body?: object,
    signal?: AbortSignal,
  ): Promise<Response> {
    const attempt = async (isRefused: boolean): Promise<Response> =>
      (signal === undefined ? this.http : this.pollHttp).fetch(address, {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${await this.tokens.current(isRefused)}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal,
      });
    const first = await attempt(false);
    // The token may have ended before its time.
    const response = first.status === 401 ? await attempt(true) : first;
    if (response.status < 200 || response.status > 299) {
      throw new StreamRefusedError(REASONS[response.status] ?? 'refused');
    }
    return response;
  }
}

function of(endpoint: string, streamId: string): string {
  const url = new URL(endpoint);
  url.searchParams.set('stream_id', streamId);
  return url.href;
}

function required(endpoint: string | null): string {
  if (endpoint === null) {
    throw new StreamRefusedError('unsupported');
  }
  return endpoint;
}
