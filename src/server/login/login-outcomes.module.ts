import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { LoginOutcomesService } from './login-outcomes.service.js';

/** Owns the counts of login outcomes. Routes: none. */
@Module({
  imports: [AuditModule, MetricsModule],
  providers: [LoginOutcomesService],
  exports: [LoginOutcomesService],
})
export class LoginOutcomesModule {}
