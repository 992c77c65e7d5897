import { Module, type DynamicModule, type FactoryProvider, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AdminAccessController } from './access/admin-access.controller.js';
import { AdminAuthentication } from './access/admin-authentication.js';
import { AdminGuard } from './access/admin.guard.js';
import { AdminLoginService } from './access/admin-login.service.js';
import { AdminSessions } from './access/admin-sessions.js';
import { AdminAccountsController } from './accounts/admin-accounts.controller.js';
import { AdminAccountsService } from './accounts/admin-accounts.service.js';
import { AdminActsService } from './accounts/admin-acts.service.js';
import { AdminAuditController } from './audit/admin-audit.controller.js';
import { AdminAuditService } from './audit/admin-audit.service.js';
import { AdminInvitationsController } from './invitations/admin-invitations.controller.js';
import { AdminInvitationsService } from './invitations/admin-invitations.service.js';
import { AdminPolicyController } from './policy/admin-policy.controller.js';
import { AdminPolicyService } from './policy/admin-policy.service.js';
import { AdminProvidersController } from './providers/admin-providers.controller.js';
import { AdminProvidersService } from './providers/admin-providers.service.js';

/**
 * The services that the controllers of the administration API use. They live in the application of
 * the server; none has a lifecycle hook, which the second application would run once more.
 */
export const ADMIN_SERVICES = [
  AdminAccountsService,
  AdminActsService,
  AdminAuditService,
  AdminAuthentication,
  AdminInvitationsService,
  AdminLoginService,
  AdminPolicyService,
  AdminProvidersService,
  AdminSessions,
];

/** The application of the server, or a part of it: where the services are found. */
export interface Services {
  get<Service>(type: Type<Service>, options: { readonly strict: false }): Service;
}

/**
 * The transport of the administration API: an application of its own, so that no route, guard or hook
 * of one port exists on the other.
 * Routes: /admin/v1/me, /admin/v1/login and …/callback, /admin/v1/logout, /admin/v1/accounts and below,
 * /admin/v1/audit, /admin/v1/overview, /admin/v1/providers, /admin/v1/policy and …/plan,
 * /admin/v1/invitations and …/:id.
 */
@Module({})
export class AdminApiModule {
  /** @param server finds the services */
  static forRoot(server: Services): DynamicModule {
    const services = ADMIN_SERVICES.map((service): FactoryProvider => ({
      provide: service,
      useFactory: () => server.get<object>(service, { strict: false }),
    }));
    return {
      module: AdminApiModule,
      controllers: [
        AdminAccessController,
        AdminAccountsController,
        AdminAuditController,
        AdminInvitationsController,
        AdminPolicyController,
        AdminProvidersController,
      ],
      providers: [{ provide: APP_GUARD, useClass: AdminGuard }, ...services],
    };
  }
}
