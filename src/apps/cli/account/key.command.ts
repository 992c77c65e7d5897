import { command, type CommandGroup } from '../command.js';
import { refusedError, usageError } from '../cli-error.js';
import { SERVER } from '../options.js';

const MAX_INPUT_BYTES = 4096;

export const key: CommandGroup = {
  name: 'key',
  description:
    "back up, restore or remove this user's device key, which gives access to the account",
  commands: [
    command({
      name: 'show',
      description: 'print it: gatekey1…, as the account page takes it',
      options: [SERVER],
      examples: ['gatehouse key show', 'gatehouse key show | pass insert -m gate'],
      async run(context) {
        const { requireServer } = await import('./current-session.js');
        const { store, server } = await requireServer(context);
        const { secret, publicKey } = await store.requireDeviceKey(server);
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
      description: 'read a key from standard input and keep it, where there is none yet',
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
            'For a second account, run the commands with another directory in XDG_CONFIG_HOME.',
          );
        }
        const next = `Saved the key. Now: gatehouse login --server ${server}`;
        context.output.result({ server, publicKey }, next);
      },
    }),
    command({
      name: 'remove',
      description: 'delete the key from this computer; the account stays on the server',
      options: [SERVER, ['--yes', 'delete it; needed, because no server has a copy of it']],
      examples: ['gatehouse key remove --yes'],
      async run(context) {
        const { requireServer } = await import('./current-session.js');
        const { store, server } = await requireServer(context);
        if (context.options.yes !== true) {
          throw usageError(
            `Without a copy of this key, its account on ${server} is lost.`,
            `Back it up: gatehouse key show --server ${server}\n  Then: gatehouse key remove --server ${server} --yes`,
          );
        }
        const { publicKey } = await store.requireDeviceKey(server);
        await store.removeDeviceKey(server);
        context.output.result({ server, publicKey }, `Removed the key for ${server}.`);
      },
    }),
  ],
};

async function readKey() {
  const { readStream } = await import('../input.js');
  const { DeviceKey } = await import('../../../packages/client/crypto/device-key.js');
  const { DeviceKeyError } = await import('../../../packages/client/crypto/key-text.js');
  const hint = 'It is what `gatehouse key show` prints: gatekey1…';
  const invalid = usageError("This isn't a device key.", hint);
  const text = await readStream(process.stdin as AsyncIterable<Buffer>, MAX_INPUT_BYTES, invalid);
  return DeviceKey.fromSecret(text.toString('utf8').trim()).catch((error: unknown) => {
    // The message does not quote the input: it may be a secret with a typing error.
    throw error instanceof DeviceKeyError ? usageError(error.message, hint) : error;
  });
}
