import { Module } from '@nestjs/common';
import { DeviceKeyController } from './device-key.controller.js';
import { DeviceKeyService } from './device-key.service.js';
import { LoginChallenges } from './login-challenges.js';

/**
 * Owns sign-up and login with a device key: challenges, and the proof that a caller holds the key.
 * Does not own whether a new key may sign up (policy) nor sessions (auth).
 * Routes: POST /v1/auth, POST /v1/auth/challenge.
 */
@Module({
  controllers: [DeviceKeyController],
  providers: [DeviceKeyService, LoginChallenges],
  exports: [DeviceKeyService],
})
export class DeviceKeyModule {}
