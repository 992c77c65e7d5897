import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { OperatorRulesModule } from '../config/config.module.js';
import { IdentitiesModule } from '../identities/identities.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { CertificateConnectController } from './certificate/certificate-connect.controller.js';
import { CertificateConnectService } from './certificate/certificate-connect.service.js';
import { CertificateHeadersService } from './certificate/certificate-headers.service.js';
import { CertificateIdentitiesService } from './certificate/certificate-identities.service.js';
import { CertificateLoginController } from './certificate/certificate-login.controller.js';
import { CertificateLoginService } from './certificate/certificate-login.service.js';
import { CertificateReturnService } from './certificate/certificate-return.service.js';
import { PresentedCertificateService } from './certificate/presented-certificate.service.js';
import { TlsListenerService } from './certificate/tls-listener.service.js';
import { DeviceKeyController } from './device-key/device-key.controller.js';
import { DeviceKeyService } from './device-key/device-key.service.js';
import { KeyedSignupService } from './device-key/keyed-signup.service.js';
import { LoginChallengeService } from './device-key/login-challenge.service.js';
import { DeviceRequestsService } from './devices/device-requests.service.js';
import { DevicesController } from './devices/devices.controller.js';
import { DevicesService } from './devices/devices.service.js';
import { KeylessAccountService } from './keyless/keyless-account.service.js';
import { KeylessLoginService } from './keyless/keyless-login.service.js';
import { LoginOutcomesService } from './login-outcomes.service.js';
import { LoginRechecksService } from './login-rechecks.service.js';
import { ConnectController } from './provider/connect.controller.js';
import { PendingLoginsService } from './provider/pending-logins.service.js';
import { ProviderCallbackController } from './provider/provider-callback.controller.js';
import { ProviderCallbackService } from './provider/provider-callback.service.js';
import { ProviderExchangeService } from './provider/provider-exchange.service.js';
import { ProviderKeylessService } from './provider/provider-keyless.service.js';
import { ProviderLoginController } from './provider/provider-login.controller.js';
import { ProviderLoginService } from './provider/provider-login.service.js';
import { ProviderStartService } from './provider/provider-start.service.js';

/**
 * Owns the ways to sign in. Does not own rules (policy), protocols and authorities (providers), nor
 * sessions (auth).
 *
 * `device-key`: challenges, the proof that a caller holds the key, and the use of invitations, which
 * `admin` makes. Routes: POST /v1/auth, POST /v1/auth/challenge.
 *
 * `devices`: the request to add one, its approval and login. Routes: /v2/auth/devices, …/:id and below.
 *
 * `certificate`: certificates from the socket of a second port, or from the headers of a trusted
 * proxy: those are removed from every request, and never used in mode direct. Routes: /v1/auth/mtls,
 * …/start, …/complete and …/claim; /v1/connect/certificate, …/start and …/complete.
 *
 * `provider`: the start, the callback, and what a client finishes with it. `state` is tied to no
 * cookie, as the browser need not be the client's (RFC 9700, 4.7.1): finishing a `pending` takes
 * the proof, device key or token that began the flow, and a loopback port is confirmed on a page.
 * PKCE and `nonce` bind the code to this server's request, each state to one provider (4.4); the
 * return address is the operator's alone (4.11). Routes: /v1/auth/external/:provider/params,
 * …/finalize, …/finalize-keyless and …/pending/:pending, /v1/oauth/:provider/callback and …/cancel,
 * /v1/connect/external/:provider, …/params and …/finalize.
 */
@Module({
  imports: [
    AuditModule,
    AuthModule,
    IdentitiesModule,
    MetricsModule,
    OperatorRulesModule,
    ProvidersModule,
    StorageModule,
  ],
  controllers: [
    CertificateConnectController,
    CertificateLoginController,
    DeviceKeyController,
    DevicesController,
    ConnectController,
    ProviderCallbackController,
    ProviderLoginController,
  ],
  providers: [
    CertificateConnectService,
    CertificateHeadersService,
    CertificateIdentitiesService,
    CertificateLoginService,
    CertificateReturnService,
    DeviceKeyService,
    DeviceRequestsService,
    DevicesService,
    KeyedSignupService,
    KeylessAccountService,
    KeylessLoginService,
    LoginChallengeService,
    LoginOutcomesService,
    LoginRechecksService,
    PendingLoginsService,
    PresentedCertificateService,
    ProviderCallbackService,
    ProviderExchangeService,
    ProviderKeylessService,
    ProviderLoginService,
    ProviderStartService,
    TlsListenerService,
  ],
})
export class LoginModule {}
