import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountEntity } from '../entities/account.entity.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { AccountAdminRepository } from '../repositories/account-admin.repository.js';
import { AccountSearchRepository } from '../repositories/account-search.repository.js';
import { AdministrationCountsRepository } from '../repositories/administration-counts.repository.js';
import { StorageModule } from '../storage.module.js';

const repositories = [
  AccountAdminRepository,
  AccountSearchRepository,
  AdministrationCountsRepository,
];

/**
 * Owns what an operator searches, counts and changes of all accounts. Does not own who may do so
 * (admin). Routes: none.
 */
@Module({
  imports: [StorageModule, TypeOrmModule.forFeature([AccountEntity, IdentityEntity])],
  providers: repositories,
  exports: repositories,
})
export class AdministrationStorageModule {}
