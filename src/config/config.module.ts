import { Global, Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { SETTINGS, type Settings } from './settings.js';

/** A copy of the process's environment, so that nobody can change it underneath. */
export function readEnvironment(): Record<string, string | undefined> {
  return { ...process.env };
}

/**
 * Owns: the resolved settings, for everybody, under the token SETTINGS.
 * Does not own: reading or judging variables (resolve-settings does, before Nest starts).
 */
@Global()
@Module({})
export class AppConfigModule {
  static forRoot(settings: Settings): DynamicModule {
    const resolved = ConfigModule.forRoot({
      isGlobal: true,
      ignoreEnvFile: true,
      validatePredefined: false,
      skipProcessEnv: true,
      load: [() => ({ settings })],
    });
    return {
      module: AppConfigModule,
      imports: [resolved],
      providers: [
        {
          provide: SETTINGS,
          inject: [ConfigService],
          useFactory: (config: ConfigService): Settings => config.getOrThrow<Settings>('settings'),
        },
      ],
      exports: [SETTINGS],
    };
  }
}
