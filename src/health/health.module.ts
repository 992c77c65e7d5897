import { Module } from '@nestjs/common';
import { DrainService } from './drain.service.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { MetricsPage } from './metrics-page.js';

/**
 * Owns probes, the metrics page and the drain of a process that stops. Liveness never looks at a
 * dependency; readiness looks at each.
 * Routes: GET /livez, GET /readyz, GET /metrics.
 */
@Module({
  controllers: [HealthController],
  providers: [DrainService, HealthService, MetricsPage],
})
export class HealthModule {}
