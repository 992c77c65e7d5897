import type { Logger } from '@nestjs/common';
import type { ResolvedConfiguration } from './config/resolve-settings.js';

const LOG_LEVEL_OF = { error: 'error', warning: 'warn', notice: 'log' } as const;

/** Logs at the start what an operator should know of the settings. */
export function logSettings(
  { settings, warnings, findings }: ResolvedConfiguration,
  logger: Logger,
): void {
  for (const warning of warnings) {
    logger.warn(warning);
  }
  for (const { severity, message } of findings) {
    logger[LOG_LEVEL_OF[severity]](message);
  }
  if (settings.storage.databaseUrl === null) {
    logger.log(
      `No DATABASE_URL: using the embedded database under ${settings.storage.dataDir}. ` +
        'It is for trying out, for one person and for tests.',
    );
  }
}
