import { REQUESTED_EVENTS } from '../../../core/policy/eligibility/security-events.js';
import type { SharedSignalsSettings } from '../../config/providers-file/provider-settings.js';
import { newestOf, readBearerTokens } from '../../config/providers-file/bearer-tokens.js';
import { readSecret } from '../../config/environment/small-file.js';
import { UpstreamError } from '../http/upstream-http.js';
import {
  POLL_DELIVERY,
  PUSH_DELIVERY,
  StreamRefusedError,
  type StreamClient,
  type StreamConfiguration,
  type StreamDelivery,
  type StreamRequest,
} from './stream-client.js';

/** A stream at the transmitter, as this server uses it. */
export interface ConnectedStream {
  readonly streamId: string;
  readonly audiences: readonly string[];
  /** null = the transmitter pushes. */
  readonly pollUrl: string | null;
  /** The events that the transmitter sends. */
  readonly events: readonly string[];
}

/** Makes the stream of a provider at its transmitter, or finds the one that was made. */
export class StreamConnector {
  constructor(
    private readonly provider: string,
    private readonly settings: SharedSignalsSettings,
    readonly client: StreamClient,
  ) {}

  /**
   * Sets up the known stream again, else one that an earlier call made, else a new one.
   *
   * @param streamId of a known stream; null = none is known
   * @throws StreamRefusedError: `unsupported` also where push has no address; UpstreamError
   */
  async connect(streamId: string | null): Promise<ConnectedStream> {
    const request = this.request();
    const known = streamId ?? (await this.findOwn(request))?.stream_id ?? null;
    const stream =
      known === null ? await this.client.create(request) : await this.setUp(known, request);
    const { method, endpoint_url: pollUrl = null } = stream.delivery;
    if (method !== request.delivery.method || (method === POLL_DELIVERY && pollUrl === null)) {
      throw new UpstreamError('unexpected_answer');
    }
    return {
      streamId: stream.stream_id,
      audiences: stream.aud,
      pollUrl: method === POLL_DELIVERY ? pollUrl : null,
      events: stream.events_delivered,
    };
  }

  /** A stream that is polled has nothing to change, and a transmitter may offer no change. */
  private async setUp(streamId: string, request: StreamRequest): Promise<StreamConfiguration> {
    try {
      return this.settings.delivery === 'poll'
        ? await this.client.read(streamId)
        : await this.client.update(streamId, request);
    } catch (error) {
      if (error instanceof StreamRefusedError && error.reason === 'missing') {
        return this.client.create(request);
      }
      throw error;
    }
  }

  private async findOwn({
    delivery,
    description,
  }: StreamRequest): Promise<StreamConfiguration | undefined> {
    const streams = await this.client.list().catch((error: unknown): StreamConfiguration[] => {
      // A transmitter may answer so where there is none.
      if (error instanceof StreamRefusedError && error.reason === 'missing') {
        return [];
      }
      throw error;
    });
    return streams.find(
      (stream) =>
        stream.delivery.method === delivery.method &&
        (delivery.endpoint_url === undefined
          ? stream.description === description
          : stream.delivery.endpoint_url === delivery.endpoint_url),
    );
  }

  private request(): StreamRequest {
    const { audience, endpoint } = this.settings;
    return {
      delivery: this.delivery(),
      events_requested: REQUESTED_EVENTS,
      description: `Gatehouse, ${this.provider}, ${endpoint ?? audience}`,
    };
  }

  private delivery(): StreamDelivery {
    const { delivery, endpoint, push } = this.settings;
    if (delivery === 'poll') {
      return { method: POLL_DELIVERY };
    }
    if (endpoint === null) {
      throw new StreamRefusedError('unsupported');
    }
    const token = push === null ? null : newestOf(readBearerTokens(currentText(push)));
    return {
      method: PUSH_DELIVERY,
      endpoint_url: endpoint,
      ...(token !== null && { authorization_header: `Bearer ${token}` }),
    };
  }
}

/** The file may have a newer token than at the start. */
function currentText({ tokenText, tokenFile }: NonNullable<SharedSignalsSettings['push']>): string {
  const file = tokenFile === null ? null : readSecret(tokenFile);
  return file !== null && 'text' in file ? file.text : tokenText;
}
