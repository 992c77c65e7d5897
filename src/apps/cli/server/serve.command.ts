import { constants } from 'node:os';
import { command } from '../command.js';

export const serve = command({
  name: 'serve',
  description: 'run the server in this terminal',
  help: `
Configured by environment variables: docs/configuration.md explains each,
config/env.example lists them. Without DATABASE_URL an embedded database is
used, in SERVICE_DATA_DIR. Check your variables with: gatehouse config check
`,
  examples: ['gatehouse serve', 'PORT=8080 SERVICE_DATA_DIR=/var/lib/gatehouse gatehouse serve'],
  async run() {
    // The first process of a container ignores signals without a listener. Those of the server replace these.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => process.exit(128 + constants.signals[signal]));
    }
    await import('../../../server/main.js');
  },
});
