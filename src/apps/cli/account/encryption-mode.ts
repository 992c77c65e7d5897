import { pinMode } from '../../../packages/client/settings/account-pin.js';
import { changeEncryption } from '../../../packages/client/settings/encryption-change.js';
import { requireOwnKey } from '../../../packages/client/api/own-key.js';
import { AccountContent } from '../../../packages/client/crypto/account-content.js';
import type { AccountMode } from '../../../core/policy/operator-policy.js';
import type { CliContext } from '../command.js';
import { refusedError } from '../cli-error.js';
import { readYes } from '../input.js';
import { explainedFor } from '../notify/settings-document.js';
import { requireSession, type CurrentSession } from './current-session.js';
import { settingsAccess } from './settings-access.js';

type Context = CliContext<{ readonly server?: string; readonly yes?: boolean }>;

const MODES: Readonly<Record<AccountMode, string>> = {
  e2ee: 'end-to-end encrypted',
  plain: 'readable by the server',
};

export async function encryptionMode(context: Context): Promise<void> {
  const current = await requireSession(context);
  const { session, store, client } = current;
  const { server, accountId } = session;
  const [toMode] = context.args as readonly (AccountMode | undefined)[];
  const { mode: before } = await client.encryption.read();
  const expected = await expectedMode(current);
  const mode = toMode ?? before;
  if (mode !== before) {
    if (mode === 'plain') {
      await requireYes(context, QUESTIONS.change);
    }
    await change(current, mode);
  } else if (toMode !== undefined && expected !== null && toMode !== expected) {
    await requireYes(context, QUESTIONS[toMode]);
    await pinMode(store.pins(server, accountId), toMode);
  }
  const pinned = toMode === undefined ? expected : mode;
  context.output.result({ server, mode, pinned }, `The content on ${server} is ${MODES[mode]}.`);
  if (pinned !== null && pinned !== mode) {
    context.output.note(
      `This computer expects that it is ${MODES[pinned]}, and uses none of it until you confirm the change: gatehouse encryption ${mode}`,
    );
  }
}

/** null: this computer has no key, and follows the server. */
async function expectedMode(current: CurrentSession): Promise<AccountMode | null> {
  const access = await settingsAccess(current);
  return access === null ? null : ((await access.pins.read())?.mode ?? 'e2ee');
}

const QUESTIONS = {
  change: 'The server can then read the settings and credentials of this account. Change it? [y/N]',
  plain:
    'The server says that it can read the content of this account. Did you choose that, on another device or at the sign-up? [y/N]',
  e2ee: 'The server says that the content of this account is end-to-end encrypted. Did you choose that on another device? [y/N]',
} as const;

async function requireYes({ options, output }: Context, question: string): Promise<void> {
  if (options.yes === true) {
    return;
  }
  output.note(question);
  if (!(await readYes())) {
    throw refusedError('Nothing was changed.', 'not-confirmed', 'In a script, add: --yes');
  }
}

async function change({ session, store, client }: CurrentSession, toMode: AccountMode) {
  const { server, accountId } = session;
  const key = await store.requireDeviceKey(server);
  await requireOwnKey(client, key, accountId);
  const access = {
    content: new AccountContent(key.bytes, accountId),
    pins: store.pins(server, accountId),
  };
  await changeEncryption(client, access, toMode).catch(explainedFor(server));
}
