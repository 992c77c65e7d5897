import type { CliContext, OptionSpec } from '../command.js';
import type { Administration } from './administration.js';

export const ADMIN_OPTIONS = [
  [
    '--admin-url <url>',
    'work through this administration API (default: $GATEHOUSE_ADMIN_URL, else on the database)',
  ],
  ['--admin-token-file <file>', 'file with its token (default: the one in $GATEHOUSE_ADMIN_TOKEN)'],
] as const satisfies readonly OptionSpec[];

export const WITH_ADMINISTRATION = `
Works on the database of DATABASE_URL, with the same variables as the server; with
--admin-url through the administration API of a server, with a token of its
ADMIN_TOKENS_FILE.
`;

export type AdminContext<Options = object> = CliContext<
  Options & {
    readonly adminUrl?: string;
    readonly adminTokenFile?: string;
    readonly actor?: string;
  }
>;

export async function withAdministration(
  context: AdminContext,
  work: (administration: Administration) => Promise<void>,
): Promise<void> {
  const url = context.options.adminUrl ?? context.environment['GATEHOUSE_ADMIN_URL'];
  if (url === undefined || url === '') {
    const { withDatabase } = await import('./database.js');
    const { DatabaseAdministration } = await import('./database-administration.js');
    return withDatabase(
      context,
      (database) => work(new DatabaseAdministration(database, context)),
      'Set it as the server has it. Or ask a running server (also an embedded one):\n  add --admin-url, with a token of ADMIN_TOKENS_FILE in GATEHOUSE_ADMIN_TOKEN.',
    );
  }
  const { throughServer } = await import('./server-administration.js');
  return throughServer(context, url, work);
}
