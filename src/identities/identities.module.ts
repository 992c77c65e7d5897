import { Module } from '@nestjs/common';
import { ProvidersModule } from '../providers/providers.module.js';
import { ForeignIdentities } from './foreign-identities.js';
import { IdentityChanges } from './identity-changes.js';
import { IdentityLinks } from './identity-links.js';

/**
 * Owns the identities of accounts: linking, unlinking, refusing them, and announcing what changed.
 * Does not own how an identity is proven (login), when it is re-checked (offboarding) nor the rules
 * (policy). Routes: none.
 */
@Module({
  imports: [ProvidersModule],
  providers: [ForeignIdentities, IdentityChanges, IdentityLinks],
  exports: [IdentityChanges, IdentityLinks],
})
export class IdentitiesModule {}
