import { GatehouseClient } from '../client/api-client.js';
import { parseServerUrl } from '../client/api-client-transport.js';
import { CliError } from './cli-error.js';
import type { CliContext } from './context.js';
import { EXIT } from './exit-codes.js';
import { ServerStore, type StoredSession } from './server-store.js';

export interface CurrentSession {
  readonly session: StoredSession;
  readonly store: ServerStore;
  /** Speaks for the session's account. */
  readonly client: GatehouseClient;
}

/** The server a command is about: --server, else GATEHOUSE_SERVER, else the last login's. */
export async function currentServer(
  { environment, options }: CliContext,
  store: ServerStore,
): Promise<string | null> {
  const named = options.server ?? (environment['GATEHOUSE_SERVER'] || undefined);
  if (named === undefined) {
    return store.lastServer();
  }
  const server = parseServerUrl(named);
  if (server === null) {
    throw new CliError(`${named} is not the address of a server.`, {
      exitCode: EXIT.usage,
      code: 'usage',
      hint: 'Give it like this: --server https://gate.example.org',
    });
  }
  return server;
}

/**
 * @param send what speaks HTTP, where a command has loaded more than Node's own for it
 * @throws CliError with exit code 3 when this user is not logged in there
 */
export async function requireSession(
  context: CliContext,
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
  const client = new GatehouseClient({
    serverUrl: session.server,
    token: session.token,
    fetch: send,
  });
  return { session, store, client };
}
