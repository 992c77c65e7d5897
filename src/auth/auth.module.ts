import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Admission } from './admission.js';
import { AuthService } from './auth.service.js';
import { AuthenticationGuard } from './authentication.guard.js';
import { ExpiredRowsJob } from './expired-rows.job.js';
import { IdentityEvents } from './identity-events.js';
import { OperatorChanges } from './operator-changes.js';
import { ProviderRequiredGuard } from './provider-required.guard.js';
import { ClientAddress, rateLimits, RateLimits } from './rate-limits.js';
import { AccessTokens } from './sessions/access-token.js';
import { SessionIssuer } from './sessions/session-issuer.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SessionActivity, SessionsService } from './sessions/sessions.service.js';

/**
 * Owns the authentication of a request: tokens, sessions, the one authentication function for HTTP
 * and handshake, the guards, the limits, the admission table of this server, and the events about accounts that other modules subscribe
 * to. Does not own the ways to log in (login), the rules (policy) nor live connections (updates).
 * Routes: /v1/auth/logout, /v1/auth/logout-everywhere, /v1/account/sessions and …/:id.
 */
@Global()
@Module({
  controllers: [SessionsController],
  providers: [
    AccessTokens,
    Admission,
    AuthService,
    ClientAddress,
    ExpiredRowsJob,
    IdentityEvents,
    OperatorChanges,
    rateLimits,
    SessionActivity,
    SessionIssuer,
    SessionsService,
    // The order is the order of the checks: who is it, then may it.
    { provide: APP_GUARD, useClass: AuthenticationGuard },
    { provide: APP_GUARD, useClass: ProviderRequiredGuard },
  ],
  exports: [Admission, AuthService, ClientAddress, IdentityEvents, RateLimits, SessionIssuer],
})
export class AuthModule {}
