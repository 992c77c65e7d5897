import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AccessChanges } from './access-changes.js';
import { AccountUpdates } from './account-updates.js';
import { AuthService } from './auth.service.js';
import { AuthenticationGuard } from './authentication.guard.js';
import { ClientAddress } from './client-address.js';
import { DeviceKeyController } from './device-key/device-key.controller.js';
import { DeviceKeyService } from './device-key/device-key.service.js';
import { KeyedAccounts } from './device-key/keyed-accounts.js';
import { LoginChallenges } from './device-key/login-challenges.js';
import { DeviceClaims } from './devices/device-claims.js';
import { DevicesController } from './devices/devices.controller.js';
import { DevicesService } from './devices/devices.service.js';
import { DueIdentities } from './due-identities.js';
import { ExpiredRowsJob } from './expired-rows.job.js';
import { LoginOutcomes } from './login-outcomes.js';
import { OperatorChanges } from './operator-changes.js';
import { ProviderRequiredGuard } from './provider-required.guard.js';
import { RateLimits } from './rate-limits.js';
import { AccessTokens } from './sessions/access-token.js';
import { SessionActivity } from './sessions/session-activity.js';
import { SessionIssuer } from './sessions/session-issuer.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SessionsService } from './sessions/sessions.service.js';
import { UpdatePositions } from './update-positions.js';

/**
 * Owns who is let in: tokens, the one authentication function for HTTP and handshake, the global
 * guards, and the ways to log in. Does not own the rules (policy) nor live connections (updates):
 * it announces access changes to whoever keeps something they make stale.
 * Routes: /v1/auth, /v1/auth/challenge, /v1/auth/logout, /v1/auth/logout-everywhere,
 * /v1/account/sessions and …/:id, /v2/auth/devices, …/:id and below.
 */
@Global()
@Module({
  controllers: [DeviceKeyController, DevicesController, SessionsController],
  providers: [
    AccessChanges,
    AccessTokens,
    AccountUpdates,
    AuthService,
    ClientAddress,
    DeviceClaims,
    DeviceKeyService,
    DevicesService,
    DueIdentities,
    ExpiredRowsJob,
    KeyedAccounts,
    LoginChallenges,
    LoginOutcomes,
    OperatorChanges,
    RateLimits,
    SessionActivity,
    SessionIssuer,
    SessionsService,
    UpdatePositions,
    // The order is the order of the checks: who is it, then may it.
    { provide: APP_GUARD, useClass: AuthenticationGuard },
    { provide: APP_GUARD, useClass: ProviderRequiredGuard },
  ],
  exports: [
    AccessChanges,
    AccountUpdates,
    AuthService,
    ClientAddress,
    DeviceKeyService,
    DueIdentities,
    KeyedAccounts,
    RateLimits,
    SessionIssuer,
    UpdatePositions,
  ],
})
export class AuthModule {}
