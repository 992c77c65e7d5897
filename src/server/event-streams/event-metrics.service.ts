import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { MetricsService } from '../metrics/metrics.service.js';
import {
  EventStatisticsRepository,
  type EventStatistics,
} from '../storage/repositories/oauth/event-statistics.repository.js';

/** Measures the event log and the streams of each backend. */
@Injectable()
export class EventMetricsService implements OnModuleInit {
  private reading: Promise<readonly EventStatistics[]> | null = null;

  constructor(
    private readonly statistics: EventStatisticsRepository,
    private readonly metrics: MetricsService,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
  ) {}

  onModuleInit(): void {
    this.observe(
      'gatehouse_security_events_stored',
      'Events about ended sessions of the last hour, by resource server.',
      ({ events }) => events,
    );
    this.observe(
      'gatehouse_security_events_oldest_waiting_seconds',
      'Age of the oldest event that a stream has not acknowledged, by resource server; 0 when there is none.',
      ({ oldestWaitingSeconds }) => oldestWaitingSeconds,
    );
    this.observe(
      'gatehouse_event_streams',
      'Streams of events about ended sessions, by resource server.',
      ({ streams }) => streams,
    );
    this.observe(
      'gatehouse_event_streams_paused',
      'Streams that were not polled for 30 seconds, by resource server.',
      ({ pausedStreams }) => pausedStreams,
    );
  }

  private observe(name: string, help: string, value: (one: EventStatistics) => number): void {
    this.metrics.observeEach(name, help, ['resource_server'], async () => {
      const found = await this.read();
      return found.map((one) => ({ resource_server: one.resourceServer, value: value(one) }));
    });
  }

  /** The gauges are collected at once, and share one read. */
  private read(): Promise<readonly EventStatistics[]> {
    this.reading ??= this.statistics
      .read(this.servers.map(({ id }) => id))
      .finally(() => (this.reading = null));
    return this.reading;
  }
}
