import { GatehouseClient } from '../../client/api/api-client.js';
import type { LoginAnswer, ServerFeatures } from '../../client/api/api-client-answers.js';
import { GatehouseProblem } from '../../client/api/problem.js';
import { refusedError } from '../cli-error.js';
import type { ServerStore } from './server-store.js';

/** Logs in with a device key; only a key that was created here signs up for an account. */
export async function logInWithKey(server: string, store: ServerStore): Promise<LoginAnswer> {
  const client = new GatehouseClient({ serverUrl: server });
  refuseUnlessOffered(server, await client.features());
  const key = await store.requireDeviceKey(server);
  if (await store.awaitsAccount(server)) {
    const answer = await client.signUp(key);
    await store.confirmAccount(server);
    return answer;
  }
  try {
    return await client.logIn(key);
  } catch (error) {
    if (error instanceof GatehouseProblem && error.code === 'not-found') {
      throw refusedError(
        `${server} has no account for this computer's device key.`,
        'no-account',
        'The account was removed, or the key belongs to another server. For a new account use another configuration: XDG_CONFIG_HOME=…',
      );
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
      ? 'It offers no way to log in at the moment. Ask its operator.'
      : `It offers ${others.join(', ')}: gatehouse login --provider <id>`;
  throw refusedError(
    `${server} does not offer login with a device key.`,
    'login-not-offered',
    hint,
  );
}
