import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { IdentitiesModule } from '../identities/identities.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { AdministrationStorageModule } from '../storage/modules/administration-storage.module.js';
import { AuditStorageModule } from '../storage/modules/audit-storage.module.js';
import { IdentitiesStorageModule } from '../storage/modules/identities-storage.module.js';
import { LoginFlowsStorageModule } from '../storage/modules/login-flows-storage.module.js';
import { ResourceServersStorageModule } from '../storage/modules/resource-servers-storage.module.js';
import { SessionsStorageModule } from '../storage/modules/sessions-storage.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { AdminTlsService } from './access/admin-tls.service.js';
import { AdminTokensService } from './access/admin-tokens.service.js';
import { ADMIN_SERVICES } from './admin-api.module.js';
import { AdminListenerService } from './admin-listener.service.js';

/**
 * Owns the administration of accounts over HTTP: its port, who may use it, and what they do. Does
 * not own the statements (storage), the decisions (policy), nor the end of sessions (auth). Routes:
 * those of AdminApiModule, on ADMIN_PORT.
 */
@Module({
  imports: [
    AdministrationStorageModule,
    AuditModule,
    AuditStorageModule,
    AuthModule,
    IdentitiesModule,
    IdentitiesStorageModule,
    LoginFlowsStorageModule,
    MetricsModule,
    ProvidersModule,
    ResourceServersStorageModule,
    SessionsStorageModule,
  ],
  providers: [...ADMIN_SERVICES, AdminListenerService, AdminTlsService, AdminTokensService],
})
export class AdminModule {}
