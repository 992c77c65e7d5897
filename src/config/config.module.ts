import { Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { OperatorRulesService } from './operator-rules.service.js';
import type { Settings } from './settings.js';

export function readEnvironment(): Record<string, string | undefined> {
  return { ...process.env };
}

/**
 * Owns the namespaces of `*.config.ts`, each loaded with its slice of the resolved settings. Nest's
 * ConfigModule makes them available everywhere.
 * Does not own reading or checking variables (resolve-settings does, before Nest starts).
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
 * Owns the allow rules that change while the server runs. Does not own the settings that wait for a
 * restart: those are namespaces of the configuration. Routes: none.
 */
@Module({ providers: [OperatorRulesService], exports: [OperatorRulesService] })
export class OperatorRulesModule {}
