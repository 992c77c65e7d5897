import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { IdentitiesModule } from '../identities/identities.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { StorageModule } from '../storage/storage.module.js';
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
    AuditModule,
    AuthModule,
    IdentitiesModule,
    MetricsModule,
    ProvidersModule,
    StorageModule,
  ],
  providers: [...ADMIN_SERVICES, AdminListenerService, AdminTlsService, AdminTokensService],
})
export class AdminModule {}
