import { Module } from '@nestjs/common';
import { OperatorRulesModule } from '../config/config.module.js';
import { UpstreamConnectionsService } from './http/upstream-connections.service.js';
import { ProviderHealthService } from './provider-health.service.js';
import { CertificateFilesService } from './certificate/certificate-files.service.js';
import { CertificateStatusService } from './certificate/certificate-status.service.js';
import { ExpiryService } from './certificate/expiry.service.js';
import { RevocationListService } from './certificate/revocation-list.service.js';
import { ServedCertificatesService } from './certificate/served-certificates.service.js';
import { OcspService } from './certificate/ocsp.service.js';
import { RevocationService } from './certificate/revocation.service.js';
import { ProviderRegistry } from './provider.registry.js';

/**
 * Owns the protocols of identity providers, every request to an upstream, and the meaning of a
 * response; for certificates: authorities, path validation, revocation, and those that this server
 * presents. Does not own the sign-up rules (policy), the schedule of re-checks (offboarding), the
 * state of a login (login), nor the storage of credentials (storage). Routes: none.
 */
@Module({
  imports: [OperatorRulesModule],
  providers: [
    CertificateFilesService,
    CertificateStatusService,
    ExpiryService,
    RevocationListService,
    OcspService,
    RevocationService,
    ServedCertificatesService,
    ProviderHealthService,
    ProviderRegistry,
    UpstreamConnectionsService,
  ],
  exports: [
    CertificateFilesService,
    CertificateStatusService,
    ExpiryService,
    RevocationListService,
    ServedCertificatesService,
    ProviderHealthService,
    ProviderRegistry,
  ],
})
export class ProvidersModule {}
