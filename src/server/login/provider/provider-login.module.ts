import { Module } from '@nestjs/common';

import { AuthModule } from '../../auth/auth.module.js';
import { StorageModule } from '../../storage/storage.module.js';
import { ProvidersModule } from '../../providers/providers.module.js';
import { IdentitiesModule } from '../../identities/identities.module.js';
import { DeviceKeyModule } from '../device-key/device-key.module.js';
import { KeylessModule } from '../keyless/keyless.module.js';
import { LoginOutcomesModule } from '../login-outcomes.module.js';
import { ConnectController } from './connect.controller.js';
import { PendingLoginsService } from './pending-logins.service.js';
import { ProviderCallbackController } from './provider-callback.controller.js';
import { ProviderCallbackService } from './provider-callback.service.js';
import { ProviderExchangeService } from './provider-exchange.service.js';
import { ProviderKeylessService } from './provider-keyless.service.js';
import { ProviderLoginController } from './provider-login.controller.js';
import { ProviderLoginService } from './provider-login.service.js';
import { ProviderStartService } from './provider-start.service.js';

/**
 * Owns logins and links through identity providers: the start, the callback, and what a client
 * finishes with it. Does not own protocols (providers) nor rules (policy). `state` is tied to no
 * cookie, as the browser need not be the client's (RFC 9700, 4.7.1): finishing a `pending` takes
 * the proof, device key or token that began the flow, and a loopback port is confirmed on a page.
 * PKCE and `nonce` bind the code to this server's request, each state to one provider (4.4); the
 * return address is the operator's alone (4.11). Routes: /v1/auth/external/:provider/params,
 * …/finalize, …/finalize-keyless and …/pending/:pending, /v1/oauth/:provider/callback and …/cancel,
 * /v1/connect/external/:provider, …/params and …/finalize.
 */
@Module({
  imports: [
    AuthModule,
    DeviceKeyModule,
    IdentitiesModule,
    KeylessModule,
    LoginOutcomesModule,
    ProvidersModule,
    StorageModule,
  ],
  controllers: [ConnectController, ProviderCallbackController, ProviderLoginController],
  providers: [
    PendingLoginsService,
    ProviderExchangeService,
    ProviderKeylessService,
    ProviderCallbackService,
    ProviderLoginService,
    ProviderStartService,
  ],
})
export class ProviderLoginModule {}
