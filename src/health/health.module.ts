import { Module } from '@nestjs/common';
import { DrainService } from './drain.service.js';
import { HealthController } from './health.controller.js';
import { UpdatesModule } from '../updates/updates.module.js';
import { HealthService } from './health.service.js';
import { MetricsPage } from './metrics-page.js';

/**
 * Owns what probes ask, and the order in which a process lets go. Liveness never looks at a dependency; readiness looks at each.
 * Routes: GET /livez, GET /readyz, GET /metrics.
 */
@Module({
  imports: [UpdatesModule],
  controllers: [HealthController],
  providers: [DrainService, HealthService, MetricsPage],
})
export class HealthModule {}
