import { Module } from '@nestjs/common';

import { AuditModule } from '../audit/audit.module.js';
import { PushTokensStorageModule } from '../storage/modules/push-tokens-storage.module.js';
import { LiveConnectionsModule } from '../updates/live-connections.module.js';
import { PushTokensController } from './push-tokens.controller.js';
import { PushTokensService } from './push-tokens.service.js';

/**
 * Owns the push tokens that accounts save. Does not own sending: the server never sends a push.
 * Routes: GET and POST /v1/push-tokens, DELETE /v1/push-tokens/:token.
 */
@Module({
  imports: [AuditModule, LiveConnectionsModule, PushTokensStorageModule],
  controllers: [PushTokensController],
  providers: [PushTokensService],
})
export class PushTokensModule {}
