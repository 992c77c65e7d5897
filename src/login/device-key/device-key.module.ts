import { Module } from '@nestjs/common';
import { DeviceKeyController } from './device-key.controller.js';
import { DeviceKeyService } from './device-key.service.js';
import { InvitedSignup } from './invited-signup.js';
import { LoginChallenges } from './login-challenges.js';

/**
 * Owns sign-up and login with a device key: challenges, the proof that a caller holds the key, and
 * invitations as they are used. Does not own how invitations are made (admin).
 * Does not own whether a new key may sign up (policy) nor sessions (auth).
 * Routes: POST /v1/auth, POST /v1/auth/challenge.
 */
@Module({
  controllers: [DeviceKeyController],
  providers: [DeviceKeyService, InvitedSignup, LoginChallenges],
  exports: [DeviceKeyService],
})
export class DeviceKeyModule {}
