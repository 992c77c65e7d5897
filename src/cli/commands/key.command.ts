import { DeviceKey } from '../../client/device-key.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { currentServer } from '../current-session.js';
import { EXIT } from '../exit-codes.js';
import { ServerStore } from '../server-store.js';

/** More than a key in any form: what is longer was meant for something else. */
const MAX_INPUT_CHARACTERS = 4096;

/** Prints the secret of this user's device key for the server, and nothing else. */
export async function show(context: CliContext): Promise<number> {
  const { store, server } = await requireServer(context);
  const kept = await store.deviceKey(server);
  if (kept === null) {
    throw new CliError(`This computer has no device key for ${server}.`, {
      exitCode: EXIT.notLoggedIn,
      code: 'no-device-key',
      hint: `Make one: gatehouse login --server ${server}`,
    });
  }
  const { secret, publicKey } = await DeviceKey.fromJwk(kept);
  if (!context.output.isJson) {
    context.output.note('Whoever has this key has the account: keep it in a password manager.');
  }
  context.output.result({ server, publicKey, secret }, secret);
  return EXIT.ok;
}

/** Keeps the key of an account that is there already, read from standard input. */
export async function restore(context: CliContext): Promise<number> {
  const { store, server } = await requireServer(context);
  if (process.stdin.isTTY) {
    context.output.note('Paste the key, press Enter, then Ctrl-D.');
  }
  const key = await readKey();
  if ((await store.deviceKey(server)) === null) {
    await store.noteAccount(server);
  }
  const kept = await store.keepDeviceKey(server, key.toJwk());
  if (kept.x !== key.publicKey) {
    throw new CliError(`This computer has another device key for ${server}.`, {
      exitCode: EXIT.refused,
      code: 'other-device-key',
      hint: 'Use a configuration of its own for the second account: XDG_CONFIG_HOME=…',
    });
  }
  const { publicKey } = key;
  context.output.result(
    { server, publicKey },
    `Kept the key. Now: gatehouse login --server ${server}`,
  );
  return EXIT.ok;
}

async function requireServer(
  context: CliContext,
): Promise<{ readonly store: ServerStore; readonly server: string }> {
  const store = new ServerStore(context.environment);
  const server = await currentServer(context, store);
  if (server === null) {
    throw usage('Which server?', 'Give its address: --server https://gate.example.org');
  }
  return { store, server };
}

async function readKey(): Promise<DeviceKey> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk;
    if (text.length > MAX_INPUT_CHARACTERS) {
      break;
    }
  }
  try {
    return await DeviceKey.fromSecret(text.trim());
  } catch {
    // Not with what was read: it may be a secret with a slip in it.
    throw usage('This is no device key.', 'It is what `gatehouse key show` prints: 43 characters.');
  }
}

function usage(message: string, hint: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage', hint });
}
