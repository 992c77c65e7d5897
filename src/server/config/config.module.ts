import { Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { OperatorRulesService } from './operator-rules.service.js';
import type { Settings } from './settings.js';

export function readEnvironment(): Record<string, string | undefined> {
  return { ...process.env };
}

/**
 * Owns the namespaces of `*.config.ts`, available everywhere. Does not own reading or checking
 * variables (resolve-settings does, before Nest starts). Routes: none.
 */
@Module({})
export class AppConfigModule {
  static forRoot(settings: Settings): DynamicModule {
    const namespaces = Object.entries(settings).map(([name, slice]) =>
      registerAs(name, () => slice),
    );
    const loaded = ConfigModule.forRoot({
      isGlobal: true,
      ignoreEnvFile: true,
      validatePredefined: false,
      skipProcessEnv: true,
      load: namespaces,
    });
    return { module: AppConfigModule, imports: [loaded] };
  }
}

/**
 * Owns the allow rules that change while the server runs. Other settings wait for a restart.
 * Routes: none.
 */
@Module({ providers: [OperatorRulesService], exports: [OperatorRulesService] })
export class OperatorRulesModule {}
