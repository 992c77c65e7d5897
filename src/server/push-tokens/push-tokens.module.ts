import { Module } from '@nestjs/common';

import { AuditModule } from '../audit/audit.module.js';
import { LiveConnectionsModule } from '../updates/live-connections.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { PushTokensController } from './push-tokens.controller.js';
import { PushTokensService } from './push-tokens.service.js';

/**
 * Owns the push tokens that accounts save. Does not own sending: the server never sends a push.
 * Routes: GET and POST /v1/push-tokens, DELETE /v1/push-tokens/:token.
 */
@Module({
  imports: [AuditModule, LiveConnectionsModule, StorageModule],
  controllers: [PushTokensController],
  providers: [PushTokensService],
})
export class PushTokensModule {}
