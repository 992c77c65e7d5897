import { GatehouseClient } from '../../../packages/client/api/api-client.js';
import type {
  LoginAnswer,
  ServerFeatures,
} from '../../../packages/client/api/api-client-answers.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import { refusedError } from '../cli-error.js';
import { serverFetch } from '../server-fetch.js';
import type { ServerStore } from './server-store.js';
import { thisComputer } from './this-computer.js';

export async function loginClient(server: string, store: ServerStore): Promise<GatehouseClient> {
  const allowClientChallenge = await store.isOlderServer(server);
  const facts = { fetch: serverFetch, client: thisComputer, allowClientChallenge };
  return new GatehouseClient({ serverUrl: server, ...facts });
}

/** Never creates an account. */
export async function logInWithKey(server: string, store: ServerStore): Promise<LoginAnswer> {
  const client = await loginClient(server, store);
  refuseUnlessOffered(server, await featuresOf(client));
  const key = await store.requireDeviceKey(server);
  return withAccount(server, store, () => client.logIn(key));
}

export async function signUpWithKey(
  server: string,
  store: ServerStore,
  invitation: string | undefined,
): Promise<LoginAnswer> {
  const client = await loginClient(server, store);
  refuseUnlessOffered(server, await featuresOf(client));
  const key = await store.requireNewDeviceKey(server);
  const answer = await client.signUp(key, invitation === undefined ? {} : { invitation });
  await store.confirmAccount(server);
  return ofKnownAccount(server, store, answer);
}

/**
 * A server could name another account for the key at each login: this computer would have seen no settings of it, and
 * accept none, or older ones.
 */
async function ofKnownAccount(
  server: string,
  store: ServerStore,
  answer: LoginAnswer,
): Promise<LoginAnswer> {
  const known = await store.bindKey(server, answer.accountId);
  if (known === answer.accountId) {
    return answer;
  }
  const client = new GatehouseClient({
    serverUrl: server,
    token: answer.token,
    fetch: serverFetch,
  });
  await client.logOut().catch(() => undefined);
  throw refusedError(
    `${server} names another account for the key of this computer: ${answer.accountId}, and before ${known}.`,
    'other-account',
    `The server may deceive you: report it to its operator. If you deleted ${known} and created another account with this key:
  gatehouse key show --server ${server}
  gatehouse key remove --server ${server} --yes
  gatehouse key restore --server ${server}`,
  );
}

/** Runs a login with the stored key, and explains the refusal of a key without an account. */
export async function withAccount(
  server: string,
  store: ServerStore,
  logIn: () => Promise<LoginAnswer>,
): Promise<LoginAnswer> {
  try {
    const answer = await logIn();
    await store.confirmAccount(server);
    return await ofKnownAccount(server, store, answer);
  } catch (error) {
    if (!(error instanceof GatehouseProblem) || error.code !== 'not-found') {
      throw error;
    }
    const hint = (await store.awaitsAccount(server))
      ? `The sign-up did not succeed. Repeat it: gatehouse signup --server ${server}`
      : `The account was deleted, or the key belongs to another server.
  To keep the key:             gatehouse key show --server ${server}
  Then, to start with another: gatehouse key remove --server ${server} --yes
  An account that you have:    gatehouse key restore --server ${server}
  A new account:               gatehouse signup --server ${server}`;
    const message = `${server} has no account for this computer's device key.`;
    throw refusedError(message, 'no-account', hint);
  }
}

/** Names the option for a server from before `GET /v1/features`, which may also be a wrong address. */
async function featuresOf(client: GatehouseClient): Promise<ServerFeatures> {
  try {
    return await client.features();
  } catch (error) {
    if (error instanceof GatehouseProblem && error.status === 404) {
      const hint = 'If it is an older server, which has no GET /v1/features: --older-server';
      throw refusedError(error.message, error.code, hint);
    }
    throw error;
  }
}

function refuseUnlessOffered(server: string, { capabilities }: ServerFeatures): void {
  const { methods } = capabilities.auth;
  const logins = methods.filter(({ action }) => action === 'login' || action === 'provision');
  if (logins.some(({ method, action }) => method === 'key_challenge' && action === 'login')) {
    return;
  }
  const others = [...new Set(logins.map(({ method }) => method))];
  const hint =
    others.length === 0
      ? 'It offers no way to sign in at the moment. Ask its operator.'
      : `It offers ${others.join(', ')}: gatehouse login --provider <id>`;
  throw refusedError(
    `${server} does not offer login with a device key.`,
    'login-not-offered',
    hint,
  );
}
