import { Global, Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { OperatorRules } from './rules/operator-rules.js';
import type { Settings } from './settings.js';

/** A copy of the process's environment. */
export function readEnvironment(): Record<string, string | undefined> {
  return { ...process.env };
}

/**
 * Owns: the namespaces of `*.config.ts`, each loaded with its slice of the resolved settings, and the
 * rules that change while the server runs.
 * Does not own: reading or checking variables (resolve-settings does, before Nest starts).
 */
@Global()
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
    return {
      module: AppConfigModule,
      imports: [loaded],
      providers: [OperatorRules],
      exports: [OperatorRules],
    };
  }
}
