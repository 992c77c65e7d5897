import { Module } from '@nestjs/common';
import { ProviderRegistry } from './provider-registry.js';

/**
 * Owns how identity providers are asked: the protocols, every request to an upstream and its limits,
 * and what an answer means (a profile, gone, or unknown).
 * Does not own who is let in (policy), when somebody is asked about (offboarding), the state of a
 * login (auth), nor where credentials are kept (storage). Routes: none.
 */
@Module({ providers: [ProviderRegistry], exports: [ProviderRegistry] })
export class ProvidersModule {}
