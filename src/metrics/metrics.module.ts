import { Module } from '@nestjs/common';
import { MetricsService } from './metrics.service.js';

/**
 * Owns the instruments. Does not own the events: every module counts its own. The page is served by
 * health.
 */
@Module({ providers: [MetricsService], exports: [MetricsService] })
export class MetricsModule {}
