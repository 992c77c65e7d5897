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
    await import('../../../server/main.js');
  },
});
