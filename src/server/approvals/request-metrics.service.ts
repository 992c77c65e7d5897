import { Injectable, type OnModuleInit } from '@nestjs/common';
import { MetricsService } from '../metrics/metrics.service.js';
import { RequestWaitsService } from './request-waits.service.js';

/** Measures the calls that wait for an answer. */
@Injectable()
export class RequestMetricsService implements OnModuleInit {
  constructor(
    private readonly waits: RequestWaitsService,
    private readonly metrics: MetricsService,
  ) {}

  onModuleInit(): void {
    this.metrics.observe(
      'gatehouse_agent_request_waits',
      'Calls of this process that wait for an answer to a request.',
      () => this.waits.total,
    );
  }
}
