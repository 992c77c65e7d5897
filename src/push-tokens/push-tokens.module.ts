import { Module } from '@nestjs/common';
import { PushTokensController } from './push-tokens.controller.js';
import { PushTokensService } from './push-tokens.service.js';

/**
 * Owns the push tokens an account saves. Does not own sending: the server never sends a push.
 * Routes: GET and POST /v1/push-tokens, DELETE /v1/push-tokens/:token.
 */
@Module({
  controllers: [PushTokensController],
  providers: [PushTokensService],
})
export class PushTokensModule {}
