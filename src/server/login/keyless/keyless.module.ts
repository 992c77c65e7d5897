import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { StorageModule } from '../../storage/storage.module.js';
import { IdentitiesModule } from '../../identities/identities.module.js';
import { KeylessAccountService } from './keyless-account.service.js';
import { KeylessLoginService } from './keyless-login.service.js';

/**
 * Owns login without device keys. Does not own the proof of an identity: providers and
 * certificates, which import this. Routes: none.
 */
@Module({
  imports: [AuthModule, IdentitiesModule, StorageModule],
  providers: [KeylessAccountService, KeylessLoginService],
  exports: [KeylessLoginService],
})
export class KeylessModule {}
