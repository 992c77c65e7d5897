import type { AccountMode } from '../../policy/operator-policy.js';
import { command } from '../command.js';
import { SERVER } from '../options.js';
import type { CurrentSession } from './current-session.js';

const MODES: Readonly<Record<AccountMode, string>> = {
  e2ee: 'end-to-end encrypted',
  plain: 'readable by the server',
};

export const encryption = command({
  name: 'encryption',
  description: 'show or change how the content of the account is stored',
  args: [['[mode]', 'the mode to change to, with everything that is stored', Object.keys(MODES)]],
  options: [SERVER],
  examples: ['gatehouse encryption', 'gatehouse encryption plain', 'gatehouse encryption e2ee'],
  async run(context) {
    const { requireSession } = await import('./current-session.js');
    const current = await requireSession(context);
    const [toMode] = context.args as readonly (AccountMode | undefined)[];
    const { mode: before } = await current.client.encryption.read();
    if (toMode !== undefined && toMode !== before) {
      await change(current, toMode);
    }
    const mode = toMode ?? before;
    const { server } = current.session;
    context.output.result({ server, mode }, `The content on ${server} is ${MODES[mode]}.`);
  },
});

async function change(current: CurrentSession, toMode: AccountMode): Promise<void> {
  const { session, store, client } = current;
  const { server, accountId } = session;
  const key = await store.requireDeviceKey(server);
  const { requireOwnKey } = await import('../../client/api/own-key.js');
  const { AccountContent } = await import('../../client/crypto/account-content.js');
  const { changeEncryption } = await import('../../client/api/encryption-change.js');
  await requireOwnKey(client, key, accountId);
  await changeEncryption(client, new AccountContent(key.bytes, accountId), toMode);
}
