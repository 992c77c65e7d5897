import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeviceAuthorizationEntity } from '../entities/device-authorization.entity.js';
import { DeviceAuthorizationRepository } from '../repositories/device-authorization.repository.js';
import { ExpiredRowsRepository } from '../repositories/expired-rows.repository.js';
import {
  ExternalFlowRepository,
  LoginChallengeRepository,
} from '../repositories/one-time.repository.js';
import { InvitationRepository } from '../repositories/invitation.repository.js';
import { StorageModule } from '../storage.module.js';

const repositories = [
  DeviceAuthorizationRepository,
  ExpiredRowsRepository,
  ExternalFlowRepository,
  InvitationRepository,
  LoginChallengeRepository,
];

/**
 * Owns what a login needs before it has a session: challenges, flows at providers, requests to add a
 * device, and invitations; and the deletion of what has expired. Routes: none.
 */
@Module({
  imports: [StorageModule, TypeOrmModule.forFeature([DeviceAuthorizationEntity])],
  providers: repositories,
  exports: repositories,
})
export class LoginFlowsStorageModule {}
