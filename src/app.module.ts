import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AccountModule } from './account/account.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { ExternalModule } from './auth/external/external.module.js';
import { MtlsModule } from './auth/mtls/mtls.module.js';
import { PushSignalsModule } from './auth/push-signals/push-signals.module.js';
import { CommonModule } from './common/common.module.js';
import { AppConfigModule } from './config/config.module.js';
import type { Settings } from './config/settings.js';
import { FeaturesModule } from './features/features.module.js';
import { HealthModule } from './health/health.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OffboardingModule } from './offboarding/offboarding.module.js';
import { PushTokensModule } from './push-tokens/push-tokens.module.js';
import { StorageModule } from './storage/storage.module.js';
import { UpdatesModule } from './updates/updates.module.js';

@Module({})
export class AppModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: AppModule,
      imports: [
        AppConfigModule.forRoot(settings),
        CommonModule,
        ScheduleModule.forRoot(),
        StorageModule,
        MetricsModule,
        AuditModule,
        AuthModule,
        ExternalModule,
        MtlsModule,
        PushSignalsModule,
        OffboardingModule,
        FeaturesModule,
        AccountModule,
        PushTokensModule,
        UpdatesModule,
        HealthModule,
      ],
    };
  }
}
