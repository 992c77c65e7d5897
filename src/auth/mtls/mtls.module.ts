import { Module } from '@nestjs/common';
import { KeylessModule } from '../keyless/keyless.module.js';
import { CertificateFiles } from './certificate-files.js';
import { CertificateHeaders } from './certificate-headers.js';
import { CertificateLogin } from './certificate-login.service.js';
import { MtlsController } from './mtls.controller.js';
import { PresentedCertificates } from './presented-certificate.js';
import { TlsListener } from './tls-listener.js';

/**
 * Owns client certificates: taking them from the socket of a port of its own or from the headers
 * of a believed proxy, reading them, and logging in whom they name. Does not own the rules about
 * whom that is (policy/client-certificate) nor accounts (keyless).
 *
 * Headers are claims. They are taken out of every request, count only when the connection itself
 * comes from a trusted proxy, and never in mode direct, where the identity is the socket's.
 *
 * Routes: /v1/auth/mtls, …/start, …/complete and …/claim.
 */
@Module({
  imports: [KeylessModule],
  controllers: [MtlsController],
  providers: [
    CertificateFiles,
    CertificateHeaders,
    CertificateLogin,
    PresentedCertificates,
    TlsListener,
  ],
})
export class MtlsModule {}
