import { Module } from '@nestjs/common';
import { IdentitiesModule } from '../../identities/identities.module.js';
import { KeylessLogin } from './keyless-login.service.js';

/**
 * Owns the login to accounts without device keys. Does not own how an identity is proven: providers
 * and certificates do, and import this. Routes: none.
 */
@Module({
  imports: [IdentitiesModule],
  providers: [KeylessLogin],
  exports: [KeylessLogin],
})
export class KeylessModule {}
