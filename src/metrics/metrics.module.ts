import { Global, Module } from '@nestjs/common';
import { Metrics } from './metrics.js';

/**
 * Owns what is counted and measured. Does not own what happens: every room counts its own. The page
 * is served by health, for whoever may see it.
 */
@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
