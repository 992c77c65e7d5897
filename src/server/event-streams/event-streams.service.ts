import { Inject, Injectable } from '@nestjs/common';
import { AppError, invalidRequest, orRefuse } from '../../common/errors.js';
import { isUuid } from '../../common/uuid.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import {
  EventStreamRepository,
  type EventStream,
} from '../storage/repositories/oauth/event-stream.repository.js';
import { EventArrivalsService } from './event-arrivals.service.js';
import { SESSION_REVOKED } from './event-token.service.js';
import {
  POLL_DELIVERY,
  type NewStreamDto,
  type StreamDto,
  type StreamStatusDto,
} from './ssf.dto.js';
import { BACKLOG_MS, STREAM_BOUNDS, VERIFICATION_INTERVAL_MS } from './stream-bounds.js';

/** Manages the streams of a backend. Those of another one do not exist for it. */
@Injectable()
export class EventStreamsService {
  constructor(
    private readonly streams: EventStreamRepository,
    private readonly arrivals: EventArrivalsService,
    @Inject(httpConfig.KEY) private readonly http: HttpSettings,
  ) {}

  /** @throws AppError `invalid-request`, `too-many-streams` */
  async create(
    backend: ResourceServerSettings,
    { delivery, events_requested: requested, description }: NewStreamDto,
  ): Promise<StreamDto> {
    if ((delivery?.method ?? POLL_DELIVERY) !== POLL_DELIVERY) {
      throw invalidRequest('delivery.method', `Only ${POLL_DELIVERY} is offered.`);
    }
    if (requested?.includes(SESSION_REVOKED) === false) {
      throw invalidRequest('events_requested', `Only ${SESSION_REVOKED} is offered.`);
    }
    const text = description ?? null;
    const stream = orRefuse(
      await this.streams.add(backend.id, text, BACKLOG_MS, STREAM_BOUNDS),
      'too-many-streams',
    );
    return this.describe(backend, stream);
  }

  async list(backend: ResourceServerSettings): Promise<StreamDto[]> {
    const streams = await this.streams.list(backend.id, STREAM_BOUNDS);
    return streams.map((stream) => this.describe(backend, stream));
  }

  /** @throws AppError `not-found` */
  async read(backend: ResourceServerSettings, id: unknown): Promise<StreamDto> {
    return this.describe(backend, await this.find(backend, id));
  }

  /** @throws AppError `not-found` */
  async status(backend: ResourceServerSettings, id: unknown): Promise<StreamStatusDto> {
    const stream = await this.find(backend, id);
    return { stream_id: stream.id, status: 'enabled' };
  }

  /** @throws AppError `not-found` */
  async remove(backend: ResourceServerSettings, id: unknown): Promise<void> {
    const key = { id: toStreamId(id), resourceServer: backend.id };
    if (!(await this.streams.remove(key))) {
      throw new AppError('not-found');
    }
    this.arrivals.look();
  }

  /** @throws AppError `not-found`, `rate-limited` */
  async verify(backend: ResourceServerSettings, id: string, state: string | null): Promise<void> {
    const key = { id: toStreamId(id), resourceServer: backend.id };
    const outcome = await this.streams.verify(key, state, VERIFICATION_INTERVAL_MS, STREAM_BOUNDS);
    if (outcome !== 'done') {
      throw new AppError(outcome === 'early' ? 'rate-limited' : 'not-found');
    }
    this.arrivals.look();
  }

  private async find(backend: ResourceServerSettings, id: unknown): Promise<EventStream> {
    const key = { id: toStreamId(id), resourceServer: backend.id };
    return orRefuse(await this.streams.find(key, STREAM_BOUNDS), 'not-found');
  }

  private describe(
    { resource }: ResourceServerSettings,
    { id, description }: EventStream,
  ): StreamDto {
    const issuer = this.http.publicUrl ?? '';
    return {
      stream_id: id,
      iss: issuer,
      aud: resource,
      delivery: { method: POLL_DELIVERY, endpoint_url: `${issuer}/v1/ssf/streams/${id}/poll` },
      events_supported: [SESSION_REVOKED],
      events_requested: [SESSION_REVOKED],
      events_delivered: [SESSION_REVOKED],
      min_verification_interval: VERIFICATION_INTERVAL_MS / 1000,
      inactivity_timeout: STREAM_BOUNDS.silentMs / 1000,
      ...(description !== null && { description }),
    };
  }
}

/** @throws AppError `not-found` for any other text */
export function toStreamId(id: unknown): string {
  if (typeof id !== 'string' || !isUuid(id)) {
    throw new AppError('not-found');
  }
  return id;
}
