import { Module, type DynamicModule, type FactoryProvider, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { acceptsPrograms } from '../../core/policy/programs/programs.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { AdminAccessController } from './access/admin-access.controller.js';
import { AdminAuthService } from './access/admin-auth.service.js';
import { AdminGuard } from './access/admin.guard.js';
import { AdminLoginService } from './access/admin-login.service.js';
import { AdminSessionsService } from './access/admin-sessions.service.js';
import { AdminAccountsController } from './accounts/admin-accounts.controller.js';
import { AdminAccountsService } from './accounts/admin-accounts.service.js';
import { AdminActsService } from './accounts/admin-acts.service.js';
import { AdminProgramsController } from './accounts/admin-programs.controller.js';
import { AdminProgramsService } from './accounts/admin-programs.service.js';
import { AdminAuditController } from './audit/admin-audit.controller.js';
import { AdminAuditService } from './audit/admin-audit.service.js';
import { AdminInvitationsController } from './invitations/admin-invitations.controller.js';
import { AdminInvitationsService } from './invitations/admin-invitations.service.js';
import { AdminLoginsController } from './logins/admin-logins.controller.js';
import { AdminLoginsService } from './logins/admin-logins.service.js';
import { AdminPlanService } from './policy/admin-plan.service.js';
import { AdminPolicyController } from './policy/admin-policy.controller.js';
import { AdminPolicyService } from './policy/admin-policy.service.js';
import { AdminProvidersController } from './providers/admin-providers.controller.js';
import { AdminProvidersService } from './providers/admin-providers.service.js';
import { AdminResourceServersController } from './resource-servers/admin-resource-servers.controller.js';
import { AdminResourceServersService } from './resource-servers/admin-resource-servers.service.js';
import { AdminRefusalsService } from './signals/admin-refusals.service.js';
import { AdminSignalsController } from './signals/admin-signals.controller.js';
import { AdminSignalsService } from './signals/admin-signals.service.js';

/** They belong to the application of the server. None has a lifecycle hook: it would run twice. */
export const ADMIN_SERVICES = [
  AdminAccountsService,
  AdminActsService,
  AdminAuditService,
  AdminAuthService,
  AdminInvitationsService,
  AdminLoginService,
  AdminLoginsService,
  AdminPlanService,
  AdminPolicyService,
  AdminProgramsService,
  AdminProvidersService,
  AdminRefusalsService,
  AdminResourceServersService,
  AdminSessionsService,
  AdminSignalsService,
];

export interface Services {
  get<Service>(type: Type<Service> | string | symbol, options: { readonly strict: false }): Service;
}

/**
 * The administration API is an application of its own: no route, guard or hook of one port exists
 * on the other. Routes: /admin/v1/me, /admin/v1/login and …/callback, /admin/v1/logout,
 * /admin/v1/accounts and below, /admin/v1/audit, /admin/v1/overview, /admin/v1/providers,
 * /admin/v1/policy, …/plan and …/variables, /admin/v1/invitations and …/:id, /admin/v1/logins,
 * /admin/v1/resource-servers, /admin/v1/signals, …/:provider/unmatched and …/:provider/end-refusal.
 */
@Module({})
export class AdminApiModule {
  static forRoot(server: Services): DynamicModule {
    const services = ADMIN_SERVICES.map((service): FactoryProvider => ({
      provide: service,
      useFactory: () => server.get<object>(service, { strict: false }),
    }));
    const backends = server.get<readonly ResourceServerSettings[]>(resourceServersConfig.KEY, {
      strict: false,
    });
    return {
      module: AdminApiModule,
      controllers: [
        AdminAccessController,
        AdminAccountsController,
        AdminAuditController,
        AdminInvitationsController,
        AdminLoginsController,
        AdminPolicyController,
        ...(acceptsPrograms(backends) ? [AdminProgramsController] : []),
        AdminProvidersController,
        AdminResourceServersController,
        AdminSignalsController,
      ],
      providers: [{ provide: APP_GUARD, useClass: AdminGuard }, ...services],
    };
  }
}
