import { GatehouseClient } from '../../../packages/client/api/api-client.js';
import { parseServerUrl, shownAddress } from '../../../packages/client/api/server-url.js';
import type { CliContext } from '../command.js';
import { notLoggedInError, usageError } from '../cli-error.js';
import { serverFetch } from '../server-fetch.js';
import { ServerStore, type StoredSession } from './server-store.js';
import { thisComputer } from './this-computer.js';

/** A server with the token for it, of any account. */
interface CurrentToken {
  readonly server: string;
  readonly token: string;
  readonly store: ServerStore;
  readonly client: GatehouseClient;
}

export interface CurrentSession extends Pick<CurrentToken, 'store' | 'client'> {
  readonly session: StoredSession;
  /** True if the token is GATEHOUSE_TOKEN, which is never stored. */
  readonly isFromEnvironment: boolean;
}

export type ServerContext = Pick<
  CliContext<{ readonly server?: string | undefined }>,
  'environment' | 'options'
>;

/** @throws CliError (usage) when no server is named and no login is stored */
export async function requireServer(context: ServerContext) {
  const store = new ServerStore(context.environment);
  const server = await currentServer(context, store);
  if (server === null) {
    throw usageError('No server is named.', `Name it: --server ${await suggestedServer(store)}`);
  }
  return { store, server };
}

/** @throws CliError with exit code 3 when this user is not signed in there */
export async function requireToken(context: ServerContext): Promise<CurrentToken> {
  const given = tokenOf(context);
  if (given !== null) {
    const { store, server } = await requireServer(context);
    return { server, token: given, store, client: clientOf(server, given) };
  }
  const { session, store, client } = await requireSession(context);
  const { server, token } = session;
  return { server, token, store, client };
}

/** @throws CliError with exit code 3 when this user is not signed in there */
export async function requireSession(context: ServerContext): Promise<CurrentSession> {
  const token = tokenOf(context);
  if (token !== null) {
    const { store, server } = await requireServer(context);
    return sessionOf({ server, token, store });
  }
  const store = new ServerStore(context.environment);
  return storedSession(store, await currentServer(context, store));
}

/**
 * GATEHOUSE_TOKEN is sent only to its own server.
 * @param accountId uses GATEHOUSE_TOKEN only if it is a token of this account
 * @throws CliError with exit code 3 when this user is not signed in there
 */
export async function requireSessionAt(
  context: ServerContext,
  server: string,
  accountId?: string,
): Promise<CurrentSession> {
  const store = new ServerStore(context.environment);
  const token = tokenOf(context);
  if (token !== null && (await currentServer(context, store)) === server) {
    const current = await sessionOf({ server, token, store });
    if (accountId === undefined || current.session.accountId === accountId) {
      return current;
    }
  }
  return storedSession(store, server);
}

async function sessionOf({
  server,
  token,
  store,
}: Omit<CurrentToken, 'client'>): Promise<CurrentSession> {
  const client = clientOf(server, token);
  const { id: accountId } = await client.profile();
  return { session: { server, accountId, token }, store, client, isFromEnvironment: true };
}

async function storedSession(store: ServerStore, server: string | null): Promise<CurrentSession> {
  const session = server === null ? null : await store.session(server);
  if (session === null) {
    throw notLoggedInError(
      server === null ? 'Not signed in.' : `Not signed in to ${server}.`,
      'not-logged-in',
      await waysIn(store, server),
    );
  }
  const client = clientOf(session.server, session.token);
  return { session, store, client, isFromEnvironment: false };
}

async function suggestedServer(store: ServerStore): Promise<string> {
  return (await store.keyServer()) ?? 'https://gate.example.org';
}

async function waysIn(store: ServerStore, server: string | null): Promise<string> {
  const at = server ?? (await suggestedServer(store));
  const logIn = `Run: gatehouse login --server ${at}`;
  const hasKey = (await store.deviceKey(at)) !== null && !(await store.awaitsAccount(at));
  return hasKey ? logIn : `${logIn}\n  For a new account: gatehouse signup --server ${at}`;
}

function clientOf(serverUrl: string, token: string): GatehouseClient {
  // A login with the key, as for an approval, begins another session of this computer.
  return new GatehouseClient({ serverUrl, token, client: thisComputer, fetch: serverFetch });
}

function tokenOf({ environment }: Pick<CliContext, 'environment'>): string | null {
  const token = environment['GATEHOUSE_TOKEN']?.trim() ?? '';
  if (!/^[\x21-\x7e]*$/.test(token)) {
    throw usageError('GATEHOUSE_TOKEN holds characters that no token has.');
  }
  return token || null;
}

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
      `${shownAddress(named)} is not the address of a server.`,
      'Write it like this: --server https://gate.example.org',
    );
  }
  return server;
}
