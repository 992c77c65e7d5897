import { Module } from '@nestjs/common';
import { MetricsService } from './metrics.service.js';

/** Owns the instruments. Every module counts its own events; health serves the page. */
@Module({ providers: [MetricsService], exports: [MetricsService] })
export class MetricsModule {}
