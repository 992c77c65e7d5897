import { Module } from '@nestjs/common';
import { ProvidersModule } from '../../providers/providers.module.js';
import { KeylessModule } from '../keyless/keyless.module.js';
import { ConnectController } from './connect.controller.js';
import { ConnectService } from './connect.service.js';
import { ExternalCallbackController } from './external-callback.controller.js';
import { ExternalCallbackService } from './external-callback.service.js';
import { ExternalKeylessController } from './external-keyless.controller.js';
import { ExternalKeylessService } from './external-keyless.service.js';
import { ExternalLoginController } from './external-login.controller.js';
import { ExternalLoginService } from './external-login.service.js';
import { ExternalStartService } from './external-start.service.js';
import { ForeignIdentities } from './foreign-identities.js';
import { IdentityLinks } from './identity-links.js';
import { PendingLogins } from './pending-logins.js';

/**
 * Owns logins and links through identity providers: the way there, the way back, and what a client
 * makes of it. Does not own protocols (providers) nor rules (policy).
 *
 * The address is opened in a browser that the client need not control (a phone's, one on another
 * machine), so no cookie ties `state` to it (RFC 9700, 4.7.1). What a cookie would stop is stopped
 * at the end: the return address only brings a `pending`, and finishing takes the secret whose hash
 * (or the device key which) the login began with, or the bearer token of the account that began to
 * connect. A login begun by somebody else ends in a client that has neither; a pending that was
 * intercepted is of no use. A loopback port is chosen by the caller, so a person is asked before the
 * pending leaves for it (loopback-page.ts). PKCE and `nonce` bind the code to this server's own request, each state
 * to one provider (4.4), and the return address is the operator's alone (4.11).
 *
 * Routes: /v1/auth/external/:provider/params, …/finalize, …/finalize-keyless and …/pending/:pending,
 * /v1/oauth/:provider/callback and …/cancel, /v1/connect/external/:provider, …/params and …/finalize.
 */
@Module({
  imports: [KeylessModule, ProvidersModule],
  controllers: [
    ConnectController,
    ExternalCallbackController,
    ExternalKeylessController,
    ExternalLoginController,
  ],
  providers: [
    ConnectService,
    ExternalCallbackService,
    ExternalKeylessService,
    ExternalLoginService,
    ExternalStartService,
    ForeignIdentities,
    IdentityLinks,
    PendingLogins,
  ],
})
export class ExternalModule {}
