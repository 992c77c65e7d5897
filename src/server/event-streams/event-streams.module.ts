import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { EventArrivalsService } from './event-arrivals.service.js';
import { EventDeliveryService } from './event-delivery.service.js';
import { EventMetricsService } from './event-metrics.service.js';
import { EventStreamsService } from './event-streams.service.js';
import { EventTokenService } from './event-token.service.js';
import { ResourceJudgementJob } from './resource-judgement.job.js';
import { SsfController } from './ssf.controller.js';
import { SsfGuard } from './ssf.guard.js';

/**
 * Owns the events that report ended sessions to backends (OpenID Shared Signals Framework 1.0, CAEP 1.0):
 * their streams, their delivery by polling (RFC 8936), and the repeated judgement of sessions at backends.
 * Does not own what ends a session, which triggers of the database report, the retention of events
 * (EventRetentionModule), nor tokens (oauth).
 * Routes: /.well-known/ssf-configuration, /v1/ssf/streams, /v1/ssf/streams/:id/poll, /v1/ssf/status,
 * /v1/ssf/verification.
 */
@Module({
  imports: [AuthModule, MetricsModule, OAuthModule, StorageModule],
  controllers: [SsfController],
  providers: [
    EventArrivalsService,
    EventDeliveryService,
    EventMetricsService,
    EventStreamsService,
    EventTokenService,
    ResourceJudgementJob,
    SsfGuard,
  ],
})
export class EventStreamsModule {}
