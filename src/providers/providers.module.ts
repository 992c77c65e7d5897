import { Module } from '@nestjs/common';
import { ProviderHealth } from './provider-health.js';
import { ProviderRegistry } from './provider-registry.js';

/**
 * Owns the protocols of identity providers, every request to an upstream and its limits, and the
 * meaning of a response (a profile, gone, or unknown).
 * Does not own the sign-up rules (policy), the schedule of re-checks (offboarding), the state of a
 * login (login), nor the storage of credentials (storage). Routes: none.
 */
@Module({
  providers: [ProviderHealth, ProviderRegistry],
  exports: [ProviderHealth, ProviderRegistry],
})
export class ProvidersModule {}
