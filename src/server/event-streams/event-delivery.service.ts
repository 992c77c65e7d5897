import { Injectable } from '@nestjs/common';
import { orRefuse } from '../../common/errors.js';
import { isUuid } from '../../common/uuid.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { MetricsService } from '../metrics/metrics.service.js';
import {
  MAX_EVENTS,
  SecurityEventRepository,
} from '../storage/repositories/oauth/security-event.repository.js';
import { EventArrivalsService } from './event-arrivals.service.js';
import { CAUSES } from './event-causes.js';
import { toStreamId } from './event-streams.service.js';
import { EventTokenService } from './event-token.service.js';
import type { EventsDto, PollDto } from './ssf.dto.js';
import { STREAM_BOUNDS } from './stream-bounds.js';

const LONGEST_WAIT_MS = 10_000;

/** Delivers the events of a stream by polling (RFC 8936). */
@Injectable()
export class EventDeliveryService {
  constructor(
    private readonly log: SecurityEventRepository,
    private readonly arrivals: EventArrivalsService,
    private readonly tokens: EventTokenService,
    private readonly metrics: MetricsService,
  ) {}

  /**
   * Acknowledges what the backend has, and returns the oldest events that it has not.
   *
   * @throws AppError `not-found` when the stream does not exist any more; `unavailable`
   */
  async poll(backend: ResourceServerSettings, id: string, poll: PollDto): Promise<EventsDto> {
    const { maxEvents, returnImmediately, ack, setErrs } = poll;
    const streamId = toStreamId(id);
    const limit = Math.min(maxEvents ?? MAX_EVENTS, MAX_EVENTS);
    // An event that a backend cannot use would be delivered for ever otherwise (RFC 8936, 2.2).
    const acknowledged = [...(ack ?? []), ...Object.keys(setErrs ?? {})].filter(isUuid);
    const arrival = this.arrivals.expect(backend.id, streamId);
    try {
      const found = await this.read(backend, streamId, limit, acknowledged);
      const hasEvents = Object.keys(found.sets).length > 0;
      if (found.moreAvailable || limit === 0 || returnImmediately === true || hasEvents) {
        return found;
      }
      await arrival.within(LONGEST_WAIT_MS);
    } finally {
      arrival.end();
    }
    // The answer says that there was no other event after the wait.
    return this.read(backend, streamId, limit);
  }

  private async read(
    backend: ResourceServerSettings,
    streamId: string,
    limit: number,
    acknowledged: readonly string[] = [],
  ): Promise<EventsDto> {
    const polled = orRefuse(
      await this.log.poll({
        streamId,
        resourceServer: backend.id,
        acknowledged,
        limit,
        causes: CAUSES,
        silentMs: STREAM_BOUNDS.silentMs,
      }),
      'not-found',
    );
    this.count(backend.id, 'acknowledged', polled.acknowledged);
    const sets = await Promise.all(
      polled.events.map(
        async (event) => [event.id, await this.tokens.of(event, backend, streamId)] as const,
      ),
    );
    this.count(backend.id, 'delivered', sets.length);
    return { sets: Object.fromEntries(sets), moreAvailable: polled.moreAvailable };
  }

  private count(resourceServer: string, step: 'delivered' | 'acknowledged', count: number): void {
    this.metrics.securityEvents.inc({ resource_server: resourceServer, step }, count);
  }
}
