import { Module } from '@nestjs/common';

import { AuditModule } from '../../audit/audit.module.js';
import { AuthModule } from '../../auth/auth.module.js';
import { StorageModule } from '../../storage/storage.module.js';
import { DeviceKeyController } from './device-key.controller.js';
import { DeviceKeyService } from './device-key.service.js';
import { KeyedSignupService } from './keyed-signup.service.js';
import { LoginChallengeService } from './login-challenge.service.js';

/**
 * Owns sign-up and login with a device key: challenges, the proof that a caller holds the key, and
 * the use of invitations. Does not own how those are made (admin), whether a new key may sign up
 * (policy) nor sessions (auth). Routes: POST /v1/auth, POST /v1/auth/challenge.
 */
@Module({
  imports: [AuditModule, AuthModule, StorageModule],
  controllers: [DeviceKeyController],
  providers: [DeviceKeyService, KeyedSignupService, LoginChallengeService],
  exports: [DeviceKeyService, KeyedSignupService],
})
export class DeviceKeyModule {}
