import { Module } from '@nestjs/common';
import { ProvidersModule } from '../../providers/providers.module.js';
import { GitHubWebhookService } from './github-webhook.service.js';
import { PushSignalsController } from './push-signals.controller.js';
import { PushSignalsService } from './push-signals.service.js';

/**
 * Owns what providers push: it makes the identity due now. Does not own the re-check.
 * Routes: POST /v1/auth/backchannel-logout/:provider, POST /v1/auth/providers/github/webhook.
 */
@Module({
  imports: [ProvidersModule],
  controllers: [PushSignalsController],
  providers: [GitHubWebhookService, PushSignalsService],
})
export class PushSignalsModule {}
