import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { DirectoryCountsService } from './directory-counts.service.js';
import { ForeignIdentitiesService } from './foreign-identities.service.js';
import { IdentityChangesService } from './identity-changes.service.js';
import { IdentityLinksService } from './identity-links.service.js';
import { IdentitySignalsService } from './identity-signals.service.js';
import { IdentityProofService } from './identity-proof.service.js';
import { OrganizationIdsService } from './organization-ids.service.js';

/**
 * Owns the identities of accounts: linking, unlinking, refusing, and announcing what changed. Does
 * not own their proof (login), re-checks (offboarding) nor rules (policy). Routes: none.
 */
@Module({
  imports: [AuditModule, AuthModule, ProvidersModule, StorageModule],
  providers: [
    DirectoryCountsService,
    ForeignIdentitiesService,
    IdentityChangesService,
    IdentityLinksService,
    IdentityProofService,
    IdentitySignalsService,
    OrganizationIdsService,
  ],
  exports: [
    DirectoryCountsService,
    IdentityChangesService,
    IdentityLinksService,
    IdentityProofService,
    IdentitySignalsService,
  ],
})
export class IdentitiesModule {}
