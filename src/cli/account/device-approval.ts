import type { WaitingDevice } from '../../client/api/api-client-answers.js';
import { approveWithKey } from '../../client/api/device-approval.js';
import { OtherAccountKey } from '../../client/crypto/key-text.js';
import { GatehouseProblem } from '../../client/api/problem.js';
import { readDeviceLink } from '../../client/crypto/device-link.js';
import { deviceCheckWords } from '../../protocol/device-check-words.js';
import { readUserCode, showUserCode } from '../../protocol/user-code.js';
import type { CliContext } from '../command.js';
import { refusedError, usageError } from '../cli-error.js';
import { readYes } from '../input.js';
import { requireSession, requireSessionAt, type CurrentSession } from './current-session.js';

type Context = CliContext<{ readonly server?: string; readonly yes?: boolean }>;

interface FoundDevice {
  readonly device: WaitingDevice;
  readonly userCode: string;
  readonly checkWords: readonly string[];
  /** True if the key is from the device's own link, not from the server. */
  readonly isLink: boolean;
}

export async function approveDevice(context: Context): Promise<void> {
  const current = await sessionFor(context);
  const { client, session, store, isFromEnvironment } = current;
  const { keyMode } = await client.profile();
  const key = keyMode === 'keyed' ? await store.requireDeviceKey(session.server) : null;
  const found = await findDevice(context, current);
  show(context, found, session.accountId);
  if (context.options.yes !== true) {
    await requireConsent(context, found);
  }
  const { device, userCode, checkWords } = found;
  if (key === null) {
    await client.devices.approve(device.id);
  } else {
    const { accountId } = session;
    const login = await approveWithKey(client, device, { accountId, key }).catch(explained);
    // The device receives its token only while the approving session exists.
    if (!isFromEnvironment) {
      await store.saveSession({ ...session, token: login.token });
    }
  }
  context.output.result(
    { id: device.id, userCode, checkWords, approved: true },
    'Approved. The device logs in within seconds.',
  );
}

export async function refuseDevice(context: Context): Promise<void> {
  const current = await sessionFor(context);
  const { device, userCode } = await findDevice(context, current);
  await current.client.devices.refuse(device.id);
  context.output.result({ id: device.id, userCode, refused: true }, 'Refused.');
}

function sessionFor(context: Context): Promise<CurrentSession> {
  const link = readDeviceLink(context.args[0] ?? '');
  return link === null || context.options.server !== undefined
    ? requireSession(context)
    : requireSessionAt(context, link.serverUrl);
}

/** @throws CliError where the code is invalid, or no device waits with it */
async function findDevice(
  { args: [text = ''] }: Context,
  { client, session }: CurrentSession,
): Promise<FoundDevice> {
  const link = readDeviceLink(text);
  const code = link?.userCode ?? readUserCode(text.trim());
  if (code === null) {
    throw usageError(`${text} is no code of a device.`, 'It has eight letters: WDJB-MJHT.');
  }
  if (link !== null && link.serverUrl !== session.server) {
    const hint = `Leave out --server, or give: --server ${link.serverUrl}`;
    throw usageError(`The link is for ${link.serverUrl}, not for ${session.server}.`, hint);
  }
  const userCode = link?.userCode ?? showUserCode(code);
  const device = await client.devices.find(userCode).catch(explained);
  if (link !== null && device.publicKey !== link.publicKey) {
    throw refusedError(
      'The server returned another key than that of the link.',
      'key-mismatch',
      'Do not add this device, and report this to the operator of the server.',
    );
  }
  const checkWords = deviceCheckWords(device.publicKey);
  return { device, userCode, checkWords, isLink: link !== null };
}

function show(
  { output }: Context,
  { device, userCode, checkWords }: FoundDevice,
  accountId: string,
): void {
  if (output.isJson) {
    output.result({ device, userCode, checkWords, accountId }, '');
    return;
  }
  const { client, address } = device;
  const named = [client.name ?? 'without a name', client.platform].filter(Boolean).join(', ');
  output.note(`Device       ${named}, at ${address}`);
  output.note(`Account      ${accountId}`);
  output.note(`Code         ${userCode}`);
  output.note(`Check words  ${checkWords.join(' ')}\n`);
}

async function requireConsent({ output }: Context, { userCode, isLink }: FoundDevice) {
  output.note(
    isLink
      ? 'Add this device? It gets full access to the account. [y/N]'
      : 'Does the screen of the new device show the same words? [y/N]',
  );
  if (!(await readYes())) {
    const hint = `If its words are different: gatehouse devices refuse ${userCode}`;
    throw refusedError('The device was not added.', 'not-confirmed', hint);
  }
}

function explained(error: unknown): never {
  if (error instanceof OtherAccountKey) {
    const hint = 'The session is of another account. Log in with the key: gatehouse login';
    throw refusedError(error.message, 'other-account-key', hint);
  }
  if (error instanceof GatehouseProblem && error.code === 'not-found') {
    const hint = 'Codes are valid for ten minutes, and once. Check the code, or ask for a new one.';
    throw refusedError('No device waits with this code.', 'unknown-code', hint);
  }
  throw error;
}
