import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AccountModule } from './account/account.module.js';
import { AdminModule } from './admin/admin.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { ClockModule } from './common/clock.js';
import { AppConfigModule } from './config/config.module.js';
import type { Settings } from './config/settings.js';
import { FeaturesModule } from './features/features.module.js';
import { HealthModule } from './health/health.module.js';
import { LoginModule } from './login/login.module.js';
import { MetricsModule } from './metrics/metrics.js';
import { OffboardingModule } from './offboarding/offboarding.module.js';
import { PushTokensModule } from './push-tokens/push-tokens.module.js';
import { REDIS, type RedisConnections } from './storage/redis/redis-connections.js';
import { StorageModule } from './storage/storage.module.js';
import { UpdatesModule } from './updates/updates.module.js';

@Module({})
export class AppModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: AppModule,
      imports: [
        AppConfigModule.forRoot(settings),
        ClockModule,
        ScheduleModule.forRoot(),
        StorageModule,
        MetricsModule,
        AuditModule,
        AuthModule,
        LoginModule,
        OffboardingModule,
        FeaturesModule,
        AccountModule,
        PushTokensModule,
        UpdatesModule.registerAsync({
          inject: [REDIS],
          useFactory: (redis: RedisConnections | null) => ({ redis: redis?.broadcasts ?? null }),
        }),
        HealthModule,
        AdminModule,
      ],
    };
  }
}
