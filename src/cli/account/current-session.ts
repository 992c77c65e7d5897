import { GatehouseClient } from '../../client/api/api-client.js';
import { parseServerUrl } from '../../client/api/server-url.js';
import type { CliContext } from '../command.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import { ServerStore, type StoredSession } from './server-store.js';

export interface CurrentSession {
  readonly session: StoredSession;
  readonly store: ServerStore;
  /** Uses the session's token. */
  readonly client: GatehouseClient;
}

/** What selects the server. */
export type ServerContext = Pick<
  CliContext<{ readonly server?: string | undefined }>,
  'environment' | 'options'
>;

/** @throws CliError (usage) when no server is named and there was no login yet */
export async function requireServer(context: ServerContext) {
  const store = new ServerStore(context.environment);
  const server = await currentServer(context, store);
  if (server === null) {
    throw usageError('No server is named.', 'Name it: --server https://gate.example.org');
  }
  return { store, server };
}

/**
 * @param send HTTP client, where a command has loaded another one than Node's own
 * @throws CliError with exit code 3 when this user is not logged in there
 */
export async function requireSession(
  context: ServerContext,
  send?: typeof fetch,
): Promise<CurrentSession> {
  const store = new ServerStore(context.environment);
  const server = await currentServer(context, store);
  const session = server === null ? null : await store.session(server);
  if (session === null) {
    throw new CliError(server === null ? 'Not logged in.' : `Not logged in to ${server}.`, {
      exitCode: EXIT.notLoggedIn,
      code: 'not-logged-in',
      hint: `Run: gatehouse login --server ${server ?? 'https://gate.example.org'}`,
    });
  }
  const { token } = session;
  const client = new GatehouseClient({ serverUrl: session.server, token, fetch: send });
  return { session, store, client };
}

/** --server, else GATEHOUSE_SERVER, else the server of the last login. */
async function currentServer(
  { environment, options }: ServerContext,
  store: ServerStore,
): Promise<string | null> {
  const named = options.server ?? (environment['GATEHOUSE_SERVER'] || undefined);
  if (named === undefined) {
    return store.lastServer();
  }
  const server = parseServerUrl(named);
  if (server === null) {
    throw usageError(
      `${named} is not the address of a server.`,
      'Write it like this: --server https://gate.example.org',
    );
  }
  return server;
}
