import { command } from '../command.js';

export const copy = command({
  name: 'copy',
  description: 'copy the embedded database to the PostgreSQL of DATABASE_URL',
  options: [
    [
      '--from-data-dir <directory>',
      'SERVICE_DATA_DIR of the server with the embedded database',
      { isRequired: true },
    ],
  ],
  help: `
Stop the server first, and run it as the same user. DATABASE_URL names an empty database in which
"gatehouse migrate" has run. The directory stays as it is; the rows are copied in one transaction,
so that a copy that fails or is killed leaves the target empty.
Sealed values stay sealed: without SERVICE_MASTER_SECRET the one of the directory is used.
Docs: docs/backup-and-restore.md, From the embedded database to PostgreSQL.
`,
  examples: ['DATABASE_URL=postgres://gate@db/gate gatehouse copy --from-data-dir ./data'],
  run: async (context) => (await import('./copy.js')).run(context),
});
