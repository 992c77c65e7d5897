import { Module } from '@nestjs/common';
import { ProvidersModule } from '../providers/providers.module.js';
import { AdminTls } from './access/admin-tls.js';
import { AdminTokens } from './access/admin-tokens.js';
import { ADMIN_SERVICES } from './admin-api.module.js';
import { AdminListener } from './admin-listener.js';

/**
 * Owns the administration of accounts over HTTP: its port, who may use it, what they see and do. Does
 * not own the statements (storage), the decisions (policy), nor the end of sessions (auth).
 * Routes: none on the server's own port; AdminApiModule lists those of ADMIN_PORT.
 */
@Module({
  imports: [ProvidersModule],
  providers: [...ADMIN_SERVICES, AdminListener, AdminTls, AdminTokens],
})
export class AdminModule {}
