import { Module } from '@nestjs/common';

import { AuditModule } from '../../audit/audit.module.js';
import { AuthModule } from '../../auth/auth.module.js';
import { ProvidersModule } from '../../providers/providers.module.js';
import { IdentitiesModule } from '../../identities/identities.module.js';
import { KeylessModule } from '../keyless/keyless.module.js';
import { StorageModule } from '../../storage/storage.module.js';
import { CertificateConnectController } from './certificate-connect.controller.js';
import { CertificateCodeService } from './certificate-code.service.js';
import { CertificateConnectService } from './certificate-connect.service.js';
import { CertificateIdentitiesService } from './certificate-identities.service.js';
import { CertificateHeadersService } from './certificate-headers.service.js';
import { CertificateLoginController } from './certificate-login.controller.js';
import { CertificateLoginService } from './certificate-login.service.js';
import { CertificateReturnService } from './certificate-return.service.js';
import { PresentedCertificateService } from './presented-certificate.service.js';
import { TlsListenerService } from './tls-listener.service.js';

/**
 * Owns certificate login: reading certificates from the socket of a second port or from the headers
 * of a trusted proxy, the login of the user they identify, and connecting one to an account. Does
 * not own the rules about that identity (policy/certificate), authorities and revocation
 * (providers) nor accounts (keyless). Headers are removed from every request, and used only from a
 * trusted proxy, never in mode direct. Routes: /v1/auth/mtls, …/start, …/complete and …/claim;
 * /v1/connect/certificate, …/start and …/complete.
 */
@Module({
  imports: [
    AuditModule,
    AuthModule,
    IdentitiesModule,
    KeylessModule,
    ProvidersModule,
    StorageModule,
  ],
  controllers: [CertificateConnectController, CertificateLoginController],
  providers: [
    CertificateCodeService,
    CertificateConnectService,
    CertificateHeadersService,
    CertificateIdentitiesService,
    CertificateLoginService,
    CertificateReturnService,
    PresentedCertificateService,
    TlsListenerService,
  ],
})
export class CertificateLoginModule {}
