import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AuditModule } from '../audit/audit.module.js';
import { OperatorRulesModule } from '../config/config.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { AdmissionService } from './admission.service.js';
import { AuthService } from './auth.service.js';
import { AuthenticationGuard } from './authentication.guard.js';
import { LargeBodyHook } from './large-body.hook.js';
import { ExpiredRowsJob } from './expired-rows.job.js';
import { IdentityEvents } from './identity.events.js';
import { OperatorChangesService } from './operator-changes.service.js';
import { ClientAddressService } from './client-address.service.js';
import { rateLimitProvider, RateLimitService } from './rate-limit.service.js';
import { AccessTokenService } from './sessions/access-token.service.js';
import { SessionIssuerService } from './sessions/session-issuer.service.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SessionActivityService } from './sessions/session-activity.service.js';
import { SessionsService } from './sessions/sessions.service.js';

/**
 * Owns the authentication of a request: tokens, sessions, the one authentication function for HTTP
 * and handshake, guards, limits, the admission table of this server, and the events about accounts.
 * Does not own the ways to sign in (login), the rules (policy) nor live connections (updates).
 * Routes: /v1/auth/logout, /v1/auth/logout-everywhere, /v1/account/sessions and …/:id.
 */
@Module({
  imports: [AuditModule, OperatorRulesModule, StorageModule],
  controllers: [SessionsController],
  providers: [
    AccessTokenService,
    AdmissionService,
    AuthenticationGuard,
    AuthService,
    ClientAddressService,
    ExpiredRowsJob,
    IdentityEvents,
    LargeBodyHook,
    OperatorChangesService,
    rateLimitProvider,
    SessionActivityService,
    SessionIssuerService,
    SessionsService,
    // The order is the order of the checks: who is it, then may it.
    { provide: APP_GUARD, useExisting: AuthenticationGuard },
  ],
  exports: [
    AccessTokenService,
    AdmissionService,
    AuthService,
    ClientAddressService,
    IdentityEvents,
    RateLimitService,
    SessionIssuerService,
  ],
})
export class AuthModule {}
