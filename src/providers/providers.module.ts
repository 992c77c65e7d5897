import { Module } from '@nestjs/common';
import { UpstreamConnections } from './http/upstream-connections.js';
import { ProviderHealth } from './provider-health.js';
import { CertificateFiles } from './certificate/certificate-files.js';
import { CertificateStatus } from './certificate/certificate-status.js';
import { FetchedLists } from './certificate/fetched-lists.js';
import { OcspResponders } from './certificate/ocsp-responders.js';
import { ProviderRegistry } from './provider-registry.js';

/**
 * Owns the protocols of identity providers, every request to an upstream and its limits, and the
 * meaning of a response (a profile, gone, or unknown); for certificates: the authorities, path
 * validation, revocation lists and OCSP.
 * Does not own the sign-up rules (policy), the schedule of re-checks (offboarding), the state of a
 * login (login), nor the storage of credentials (storage). Routes: none.
 */
@Module({
  providers: [
    CertificateFiles,
    CertificateStatus,
    FetchedLists,
    OcspResponders,
    ProviderHealth,
    ProviderRegistry,
    UpstreamConnections,
  ],
  exports: [CertificateFiles, CertificateStatus, FetchedLists, ProviderHealth, ProviderRegistry],
})
export class ProvidersModule {}
