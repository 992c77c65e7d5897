import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountCredentialEntity } from '../entities/account-credential.entity.js';
import { AccountEntity } from '../entities/account.entity.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { AccountCredentialsRepository } from '../repositories/account-credentials.repository.js';
import { AccountRepository } from '../repositories/account.repository.js';
import { AccountSettingsRepository } from '../repositories/account-settings.repository.js';
import { StorageModule } from '../storage.module.js';

const repositories = [AccountCredentialsRepository, AccountRepository, AccountSettingsRepository];

/**
 * Owns the rows of accounts that their owners read and change: profile, settings, mode and
 * credentials. Does not own sessions, identities, nor what an administrator changes. Routes: none.
 */
@Module({
  imports: [
    StorageModule,
    TypeOrmModule.forFeature([AccountCredentialEntity, AccountEntity, IdentityEntity]),
  ],
  providers: repositories,
  exports: repositories,
})
export class AccountsStorageModule {}
