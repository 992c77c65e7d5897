import { Module } from '@nestjs/common';
import { KeylessModule } from '../keyless/keyless.module.js';
import { CertificateFiles } from './certificate-files.js';
import { CertificateHeaders } from './certificate-headers.js';
import { CertificateLoginController } from './certificate-login.controller.js';
import { CertificateLoginService } from './certificate-login.service.js';
import { PresentedCertificates } from './presented-certificate.js';
import { TlsListener } from './tls-listener.js';

/**
 * Owns client certificates: reading them from the socket of a second port or from the headers of a
 * trusted proxy, validating them, and the login of the user they identify. Does not own the rules
 * about that identity (policy/certificate) nor accounts (keyless).
 *
 * Headers are removed from every request, are used only when the connection itself comes from a
 * trusted proxy, and never in mode direct, where the identity is the socket's.
 *
 * Routes: /v1/auth/mtls, …/start, …/complete and …/claim.
 */
@Module({
  imports: [KeylessModule],
  controllers: [CertificateLoginController],
  providers: [
    CertificateFiles,
    CertificateHeaders,
    CertificateLoginService,
    PresentedCertificates,
    TlsListener,
  ],
})
export class CertificateLoginModule {}
