import type { WaitingDevice } from '../../../packages/client/api/api-client-answers.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import { OtherAccountKey } from '../../../packages/client/crypto/key-text.js';
import {
  approveDevice as approve,
  type ApprovingAccount,
} from '../../../packages/client/devices/device-approval.js';
import {
  isOlderDeviceLink,
  readDeviceLink,
  type DeviceLink,
} from '../../../packages/client/devices/device-link.js';
import { DeviceSealError } from '../../../packages/client/devices/device-sealing.js';
import {
  DeviceServerRefused,
  findDevice as findDeviceOf,
} from '../../../packages/client/devices/device-server.js';
import { deviceKeyWords } from '../../../core/protocol/device-words.js';
import { readUserCode, showUserCode } from '../../../core/protocol/user-code.js';
import type { CliContext } from '../command.js';
import { refusedError, usageError } from '../cli-error.js';
import { isYes, withAnswers } from '../input.js';
import { oneLine } from '../output.js';
import { requireSession, requireSessionAt, type CurrentSession } from './current-session.js';
import { isKeyOfAccount } from './settings-access.js';

type Context = CliContext<{ readonly server?: string; readonly yes?: boolean }>;
type Next = () => Promise<string | null>;

interface FoundDevice {
  readonly device: WaitingDevice;
  readonly userCode: string;
  /** null for a typed code, whose key is the server's word. */
  readonly link: DeviceLink | null;
  /** The words of the key, to compare; null for a link. */
  readonly checkWords: readonly string[] | null;
}

export function approveDevice(context: Context): Promise<void> {
  return withAnswers(async (next) => {
    const text = await codeOrLink(context, next);
    const current = await sessionFor(context, text);
    const { client, session, store, isFromEnvironment } = current;
    const account = await approvingAccount(current);
    const found = await findDevice(text, current);
    show(context, found, session.accountId);
    await requireConsent(context, found, next);
    const { device, userCode, link } = found;
    const { login, words } = await approve(client, device, account, link).catch(explained);
    // The device receives its token only while the approving session exists.
    if (login !== null && !isFromEnvironment) {
      await store.saveSession({ ...session, token: login.token });
    }
    context.output.result(
      { id: device.id, userCode, approved: true, ...(words !== null && { words }) },
      describeApproved(words),
    );
  });
}

function describeApproved(words: readonly string[] | null): string {
  return words === null
    ? 'Approved. The new device asks whose account it is, and then signs in.'
    : `Approved. The new device asks for the first three of these words:\n\n  ${words.join(' ')}\n`;
}

export function refuseDevice(context: Context): Promise<void> {
  return withAnswers(async (next) => {
    const text = await codeOrLink(context, next);
    const current = await sessionFor(context, text);
    const { device, userCode } = await findDevice(text, current);
    await current.client.devices.refuse(device.id);
    context.output.result({ id: device.id, userCode, refused: true }, 'Refused.');
  });
}

/** A link in an argument is in the list of processes, with its secret. */
async function codeOrLink({ args: [given = ''], output }: Context, next: Next): Promise<string> {
  if (given !== '-') {
    return given;
  }
  if (process.stdin.isTTY) {
    output.note('Paste the link, and press Enter.');
  }
  return (await next()) ?? '';
}

function sessionFor(context: Context, text: string): Promise<CurrentSession> {
  const link = readDeviceLink(text);
  return link === null || context.options.server !== undefined
    ? requireSession(context)
    : requireSessionAt(context, link.serverUrl);
}

/** A computer with a key hands it over, whatever the server says about the account. */
async function approvingAccount(current: CurrentSession): Promise<ApprovingAccount> {
  const { client, session, store } = current;
  const { server, accountId } = session;
  const pin = await store.pins(server, accountId).read();
  const isKept = (await store.deviceKey(server)) !== null && (await isKeyOfAccount(current));
  const isKeyed = isKept || pin !== null || (await client.profile()).keyMode === 'keyed';
  return { accountId, key: isKeyed ? await store.requireDeviceKey(server) : null, pin };
}

/** @throws CliError where the code is invalid, or no device waits with it */
async function findDevice(text: string, { client, session }: CurrentSession): Promise<FoundDevice> {
  if (isOlderDeviceLink(text)) {
    throw refusedError(
      'This is a link of an older version, which is not safe.',
      'older-device',
      'Update the app or the command on the new device, and begin again there.',
    );
  }
  const link = readDeviceLink(text);
  const code = link?.userCode ?? readUserCode(text.trim());
  if (code === null) {
    // The text may be a damaged link, with its secret.
    throw usageError(
      'This is neither a code nor a link of a device.',
      'A code has eight letters: WDJB-MJHT.',
    );
  }
  if (link !== null && link.serverUrl !== session.server) {
    const hint = `Leave out --server, or give: --server ${link.serverUrl}`;
    throw usageError(`The link is for ${link.serverUrl}, not for ${session.server}.`, hint);
  }
  const userCode = link?.userCode ?? showUserCode(code);
  const device = await findDeviceOf(client, userCode).catch(explained);
  const checkWords = link === null ? deviceKeyWords(device) : null;
  return { device, userCode, link, checkWords };
}

function show(
  { output }: Context,
  { device, userCode, checkWords }: FoundDevice,
  accountId: string,
): void {
  if (output.isJson) {
    output.result({ device, userCode, ...(checkWords !== null && { checkWords }), accountId }, '');
    return;
  }
  const { client, address } = device;
  const named = [client.name ?? 'without a name', client.platform].filter(Boolean).join(', ');
  output.note(oneLine(`Device   ${named}, at ${address}`));
  output.note(`Account  ${accountId}`);
  output.note(`Code     ${userCode}`);
  if (checkWords !== null) {
    output.note(`Words    ${checkWords.join(' ')}`);
  }
}

async function requireConsent(
  { output, options }: Context,
  { userCode, link }: FoundDevice,
  next: Next,
): Promise<void> {
  if (options.yes === true && link !== null) {
    return;
  }
  if (options.yes === true) {
    throw usageError(
      'A typed code carries no key, so that a person has to compare the words.',
      'Use the link of the new device in scripts: echo LINK | gatehouse devices approve --yes -',
    );
  }
  output.note(
    link === null
      ? '\nDoes the screen of the new device show the same words? [y/N]'
      : '\nAdd this device? It gets full access to the account. [y/N]',
  );
  if (!isYes(await next())) {
    const hint = `If it is not your device: gatehouse devices refuse ${userCode}`;
    throw refusedError('The device was not added.', 'not-confirmed', hint);
  }
}

function explained(error: unknown): never {
  if (error instanceof OtherAccountKey) {
    const hint = 'The session is of another account. Sign in with the key: gatehouse login';
    throw refusedError(error.message, 'other-account-key', hint);
  }
  if (error instanceof GatehouseProblem && error.code === 'not-found') {
    const hint = 'Codes are valid for ten minutes, and once. Check the code, or ask for a new one.';
    throw refusedError('No device waits with this code.', 'unknown-code', hint);
  }
  if (error instanceof DeviceSealError && error.reason === 'other-key') {
    const hint = 'Do not add this device, and report this to the operator of the server.';
    throw refusedError(error.message, 'key-mismatch', hint);
  }
  if (error instanceof DeviceServerRefused) {
    throw refusedError(error.message, error.reason);
  }
  throw error;
}
