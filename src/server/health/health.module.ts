import { Module } from '@nestjs/common';

import { AuthModule } from '../auth/auth.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { LiveConnectionsModule } from '../updates/live-connections.module.js';
import { DependencyMetricsService } from './dependency-metrics.service.js';
import { DrainService } from './drain.service.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { MetricsPageService } from './metrics-page.service.js';
import { ProcessMetricsService } from './process-metrics.service.js';

/**
 * Owns probes, the metrics page and the drain. Liveness looks at no dependency. Routes: GET /livez,
 * GET /readyz, GET /metrics.
 */
@Module({
  imports: [AuthModule, LiveConnectionsModule, MetricsModule, StorageModule],
  controllers: [HealthController],
  providers: [
    DependencyMetricsService,
    DrainService,
    HealthService,
    MetricsPageService,
    ProcessMetricsService,
  ],
})
export class HealthModule {}
