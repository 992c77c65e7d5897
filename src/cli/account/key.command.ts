import { command, type CommandGroup } from '../command.js';
import { CliError, EXIT, refusedError, usageError } from '../cli-error.js';
import { SERVER } from '../options.js';

/** Longer than a key in any form. */
const MAX_INPUT_BYTES = 4096;

/** Backs up and restores this user's device key for a server. */
export const key: CommandGroup = {
  name: 'key',
  description: "back up or restore this user's device key, which gives access to the account",
  commands: [
    command({
      name: 'show',
      description: 'print its secret: 43 characters, as the account page takes them',
      options: [SERVER],
      examples: ['gatehouse key show', 'gatehouse key show | pass insert -m gate'],
      async run(context) {
        const { requireServer } = await import('./current-session.js');
        const { store, server } = await requireServer(context);
        const stored = await store.deviceKey(server);
        if (stored === null) {
          throw new CliError(`This computer has no device key for ${server}.`, {
            exitCode: EXIT.notLoggedIn,
            code: 'no-device-key',
            hint: `Make one: gatehouse login --server ${server}`,
          });
        }
        const { DeviceKey } = await import('../../client/crypto/device-key.js');
        const { secret, publicKey } = await DeviceKey.fromJwk(stored);
        if (!context.output.isJson) {
          context.output.note(
            'This key gives access to the account: keep it in a password manager.',
          );
        }
        context.output.result({ server, publicKey, secret }, secret);
      },
    }),
    command({
      name: 'restore',
      description: 'read a secret from standard input and keep it, where there is no key yet',
      options: [SERVER],
      examples: ['pass gate | gatehouse key restore --server https://gate.example'],
      async run(context) {
        const { requireServer } = await import('./current-session.js');
        const { store, server } = await requireServer(context);
        if (process.stdin.isTTY) {
          context.output.note('Paste the key, press Enter, then Ctrl-D.');
        }
        const restored = await readKey();
        if ((await store.deviceKey(server)) === null) {
          await store.confirmAccount(server);
        }
        const { publicKey } = restored;
        const stored = await store.saveDeviceKey(server, restored.toJwk());
        if (stored.x !== publicKey) {
          throw refusedError(
            `This computer has another device key for ${server}.`,
            'other-device-key',
            'Use another configuration for the second account: XDG_CONFIG_HOME=…',
          );
        }
        const next = `Saved the key. Now: gatehouse login --server ${server}`;
        context.output.result({ server, publicKey }, next);
      },
    }),
  ],
};

async function readKey() {
  const { readStream } = await import('../input.js');
  const { DeviceKey } = await import('../../client/crypto/device-key.js');
  // The message does not quote the input: it may be a secret with a typing error.
  const invalid = usageError(
    'This is no device key.',
    'It is what `gatehouse key show` prints: 43 characters.',
  );
  const text = await readStream(process.stdin as AsyncIterable<Buffer>, MAX_INPUT_BYTES, invalid);
  return DeviceKey.fromSecret(text.toString('utf8').trim()).catch(() => {
    throw invalid;
  });
}
