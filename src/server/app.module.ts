import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AccountModule } from './account/account.module.js';
import { AdminModule } from './admin/admin.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { RuntimeModule } from '../common/runtime/runtime.module.js';
import { AppConfigModule } from './config/config.module.js';
import type { Settings } from './config/settings.js';
import { FeaturesModule } from './features/features.module.js';
import { HealthModule } from './health/health.module.js';
import { LoginModule } from './login/login.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OAuthModule } from './oauth/oauth.module.js';
import { OffboardingModule } from './offboarding/offboarding.module.js';
import { offersAnswers } from '../core/policy/admission/answers.js';
import { acceptsPrograms } from '../core/policy/programs/programs.js';
import { ProgramsModule } from './programs/programs.module.js';
import { RemovedProgramsModule } from './programs/ends/removed-programs.module.js';
import { PushTokensModule } from './push-tokens/push-tokens.module.js';
import { ApprovalsModule } from './approvals/approvals.module.js';
import { ScimModule } from './scim/scim.module.js';
import { EventRetentionModule } from './event-streams/event-retention.module.js';
import { EventStreamsModule } from './event-streams/event-streams.module.js';
import { REDIS, type RedisService } from './storage/redis/redis.service.js';
import { StorageModule } from './storage/storage.module.js';
import { UpdatesModule } from './updates/updates.module.js';

@Module({})
export class AppModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: AppModule,
      imports: [
        AppConfigModule.forRoot(settings),
        RuntimeModule,
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
          imports: [StorageModule],
          inject: [REDIS],
          useFactory: (redis: RedisService | null) => ({ redis: redis?.broadcasts ?? null }),
        }),
        ...(offersAnswers(settings) ? [ApprovalsModule] : []),
        EventRetentionModule,
        ...(settings.resourceServers.length === 0 ? [] : [OAuthModule, EventStreamsModule]),
        acceptsPrograms(settings.resourceServers) ? ProgramsModule : RemovedProgramsModule,
        ...(settings.providers.some((one) => one.type === 'oidc' && one.scim !== null)
          ? [ScimModule]
          : []),
        HealthModule,
        AdminModule,
      ],
    };
  }
}
