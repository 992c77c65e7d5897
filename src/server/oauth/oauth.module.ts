import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { ClientAssertionService } from './client-assertion.service.js';
import { ClientAuthenticationService } from './client-authentication.service.js';
import { ClientTokenService } from './client-token.service.js';
import { ForwardAuthController } from './forward-auth.controller.js';
import { IntrospectionService } from './introspection.service.js';
import { OAuthController } from './oauth.controller.js';
import { ResourceAccessService } from './resource-access.service.js';
import { ResourceServerOutcomesService } from './resource-server-outcomes.service.js';
import { ResourceTokenService } from './resource-token.service.js';
import { SigningKeysService } from './signing-keys.service.js';
import { TokenAnswerService } from './token-answer.service.js';
import { TokenExchangeService } from './token-exchange.service.js';
import { TokenRateGuard } from './token-rate.guard.js';

/**
 * Owns the tokens of other backends: their keys, the exchange, introspection and the question of a
 * reverse proxy. Loaded only where a backend is configured. Does not own sessions (auth).
 * Routes: /.well-known/oauth-authorization-server, /v1/oauth/jwks, /v1/oauth/token,
 * /v1/oauth/introspect, /v1/oauth/forward-auth/:id.
 */
@Module({
  imports: [AuthModule, MetricsModule, StorageModule],
  controllers: [OAuthController, ForwardAuthController],
  providers: [
    ClientAssertionService,
    ClientAuthenticationService,
    ClientTokenService,
    IntrospectionService,
    ResourceAccessService,
    ResourceServerOutcomesService,
    ResourceTokenService,
    SigningKeysService,
    TokenAnswerService,
    TokenExchangeService,
    TokenRateGuard,
  ],
  exports: [ClientTokenService, ResourceTokenService, SigningKeysService, TokenAnswerService],
})
export class OAuthModule {}
