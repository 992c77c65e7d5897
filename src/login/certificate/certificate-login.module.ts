import { Module } from '@nestjs/common';
import { ProvidersModule } from '../../providers/providers.module.js';
import { IdentitiesModule } from '../../identities/identities.module.js';
import { KeylessModule } from '../keyless/keyless.module.js';
import { CertificateConnectController } from './certificate-connect.controller.js';
import { CertificateConnectService } from './certificate-connect.service.js';
import { CertificateIdentities } from './certificate-identities.js';
import { CertificateHeaders } from './certificate-headers.js';
import { CertificateLoginController } from './certificate-login.controller.js';
import { CertificateLoginService } from './certificate-login.service.js';
import { PresentedCertificates } from './presented-certificate.js';
import { TlsListener } from './tls-listener.js';

/**
 * Owns what a client shows: reading certificates from the socket of a second port or from the headers
 * of a trusted proxy, the login of the user they identify, and connecting one to an account. Does not
 * own the rules about that identity (policy/certificate), authorities and revocation (providers) nor
 * accounts (keyless).
 *
 * Headers are removed from every request, are used only when the connection itself comes from a
 * trusted proxy, and never in mode direct, where the identity is the socket's.
 *
 * Routes: /v1/auth/mtls, …/start, …/complete and …/claim; /v1/connect/certificate, …/start and …/complete.
 */
@Module({
  imports: [IdentitiesModule, KeylessModule, ProvidersModule],
  controllers: [CertificateConnectController, CertificateLoginController],
  providers: [
    CertificateConnectService,
    CertificateHeaders,
    CertificateIdentities,
    CertificateLoginService,
    PresentedCertificates,
    TlsListener,
  ],
})
export class CertificateLoginModule {}
