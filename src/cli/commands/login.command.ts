import { GatehouseClient } from '../../client/api-client.js';
import type { LoginAnswer, ServerFeatures } from '../../client/api-client-answers.js';
import { GatehouseProblem } from '../../client/problem.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { currentServer } from '../current-session.js';
import { deviceKeyFor } from '../device-key-store.js';
import { EXIT } from '../exit-codes.js';
import { ServerStore } from '../server-store.js';

/** Logs in with this user's device key for the server, an identity provider, or a certificate. */
export async function run(context: CliContext): Promise<number> {
  const store = new ServerStore(context.environment);
  const server = await currentServer(context, store);
  if (server === null) {
    throw new CliError('Which server?', {
      exitCode: EXIT.usage,
      code: 'usage',
      hint: 'Give its address: gatehouse login --server https://gate.example.org',
    });
  }
  const { token, accountId, created } = await logIn(context, server, store);
  await store.keepSession({ server, accountId, token });
  context.output.result(
    { server, accountId, created },
    created
      ? `Created the account ${accountId} on ${server} and logged in.`
      : `Logged in to ${server} as ${accountId}.`,
  );
  return EXIT.ok;
}

async function logIn(
  context: CliContext,
  server: string,
  store: ServerStore,
): Promise<LoginAnswer> {
  const { provider, keyless, certificate, certificateUrl, ca, key } = context.options;
  if (keyless === true && provider === undefined) {
    throw usage('--keyless needs --provider.');
  }
  if (certificate === undefined && (ca ?? certificateUrl) !== undefined) {
    throw usage('--ca and --certificate-url need --certificate.');
  }
  if (certificate !== undefined || key !== undefined) {
    const { logInWithCertificate } = await import('./certificate-login.command.js');
    return logInWithCertificate(context, server);
  }
  if (provider !== undefined) {
    const { logInThroughProvider } = await import('./provider-login.command.js');
    return logInThroughProvider(context, server, provider);
  }
  const client = new GatehouseClient({ serverUrl: server });
  refuseUnlessOffered(server, await client.features());
  return logInWithKey(client, server, store);
}

/** Only a key that was made here gets an account: one that was restored is to have one. */
async function logInWithKey(
  client: GatehouseClient,
  server: string,
  store: ServerStore,
): Promise<LoginAnswer> {
  const key = await deviceKeyFor(server, store);
  if (await store.awaitsAccount(server)) {
    const answer = await client.signUp(key);
    await store.noteAccount(server);
    return answer;
  }
  try {
    return await client.logIn(key);
  } catch (error) {
    if (error instanceof GatehouseProblem && error.code === 'not-found') {
      throw new CliError(`${server} has no account for this computer's device key.`, {
        exitCode: EXIT.refused,
        code: 'no-account',
        hint: 'The account was removed, or the key is of another server. For a new account use another configuration: XDG_CONFIG_HOME=…',
      });
    }
    throw error;
  }
}

function usage(message: string): CliError {
  return new CliError(message, {
    exitCode: EXIT.usage,
    code: 'usage',
    hint: 'See: gatehouse login --help',
  });
}

function refuseUnlessOffered(server: string, { capabilities }: ServerFeatures): void {
  const { methods } = capabilities.auth;
  const logins = methods.filter(({ action }) => action === 'login' || action === 'provision');
  if (logins.some(({ method, action }) => method === 'key_challenge' && action === 'login')) {
    return;
  }
  const others = [...new Set(logins.map(({ method }) => method))];
  throw new CliError(`${server} does not offer login with a device key.`, {
    exitCode: EXIT.refused,
    code: 'login-not-offered',
    hint:
      others.length === 0
        ? 'It offers no way to log in at the moment. Ask its operator.'
        : `It offers ${others.join(', ')}: gatehouse login --provider <id>`,
  });
}
