import { Module } from '@nestjs/common';
import { PushTokenRepository } from '../repositories/push-token.repository.js';
import { StorageModule } from '../storage.module.js';

/** Owns the push tokens of accounts. Does not own sending. Routes: none. */
@Module({
  imports: [StorageModule],
  providers: [PushTokenRepository],
  exports: [PushTokenRepository],
})
export class PushTokensStorageModule {}
