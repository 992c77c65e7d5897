import { GatehouseClient } from '../../../packages/client/api/api-client.js';
import type {
  DeviceRequest,
  LoginAnswer,
} from '../../../packages/client/api/api-client-answers.js';
import { deviceLink } from '../../../packages/client/devices/device-link.js';
import { DeviceNotAdded, waitForApproval } from '../../../packages/client/devices/device-routes.js';
import {
  DeviceSealError,
  makeDeviceSecrets,
  openApproval,
  type HandedAccount,
  type OpenedApproval,
} from '../../../packages/client/devices/device-sealing.js';
import {
  DeviceServerRefused,
  requestDevice,
} from '../../../packages/client/devices/device-server.js';
import { adoptPin } from '../../../packages/client/settings/account-pin.js';
import { deviceKeyWords } from '../../../core/protocol/device-words.js';
import type { CliContext } from '../command.js';
import { refusedError, usageError } from '../cli-error.js';
import { isYes, withAnswers } from '../input.js';
import { oneLine, type Output } from '../output.js';
import { serverFetch } from '../server-fetch.js';
import type { ServerStore } from './server-store.js';
import { drawQr } from './terminal-qr.js';
import { thisComputer } from './this-computer.js';

interface CodeLogin {
  readonly server: string;
  readonly store: ServerStore;
  readonly provider: string | undefined;
  /** The only account that may be added, in place of the question; for scripts. */
  readonly account: string | undefined;
}

const AGAIN = 'Begin again: gatehouse login --code';

export async function logInWithCode(
  { output }: CliContext,
  login: CodeLogin,
): Promise<LoginAnswer> {
  const { server, store, provider, account } = login;
  if (!process.stdin.isTTY && account === undefined) {
    throw usageError(
      'Without a terminal there is no answer to the question whose account it is.',
      'Name the account: --account ID. Then approve by the link.',
    );
  }
  await refuseWithKey(store, server);
  const client = new GatehouseClient({ serverUrl: server, fetch: serverFetch });
  const secrets = await makeDeviceSecrets();
  const { publicKey, proof, linkSecret } = secrets;
  const asked = requestDevice(client, { ...secrets, client: thisComputer });
  const request = await asked.catch(explained);
  const { userCode, expiresAt, origins } = request;
  const link = deviceLink({ serverUrl: server, userCode, publicKey, linkSecret });
  const checkWords = deviceKeyWords({ publicKey, origins });
  invite(output, { server, userCode, link, expiresAt, checkWords });
  if (provider !== undefined) {
    output.note(`Use an account that is connected with ${provider}.`);
  }
  const approved = await waitForApproval(client.devices, request, proof).catch(explained);
  const session = client.withToken(approved.token);
  try {
    const opened = await openApproval(secrets, origins, approved);
    const handed = await confirmedAccount({ output, session, login, opened });
    if (provider !== undefined) {
      await requireIdentity(session, provider);
    }
    await keepAccount(store, server, handed);
  } catch (error) {
    // The session is not stored. A failure to end it must not hide the failure to report.
    await session.logOut().catch(() => undefined);
    throw error instanceof DeviceSealError ? explained(error) : error;
  }
  return { token: approved.token, accountId: approved.accountId, created: false };
}

/** Checked before a code is shown, because only one key per server can be stored. */
async function refuseWithKey(store: ServerStore, server: string): Promise<void> {
  if ((await store.deviceKey(server)) !== null) {
    throw refusedError(
      `This computer has a device key for ${server} already.`,
      'device-key-exists',
      `Sign in with it: gatehouse login --server ${server}\n  For another account use another configuration: XDG_CONFIG_HOME=…`,
    );
  }
}

interface Invitation extends Pick<DeviceRequest, 'userCode' | 'expiresAt'> {
  readonly server: string;
  readonly link: string;
  readonly checkWords: readonly string[];
}

function invite(output: Output, invitation: Invitation): void {
  const { server, userCode, link, checkWords } = invitation;
  if (output.isJson) {
    output.result(invitation, '');
    return;
  }
  output.draw(drawQr(link, process.stderr.isTTY));
  output.note(`\nScan this with a device that has the account, or open there:\n\n  ${link}\n`);
  if (process.stdin.isTTY) {
    output.note(`Or type this code at ${server}/app/device:  ${userCode}`);
    output.note(`In a terminal: gatehouse devices approve ${userCode}`);
    output.note(
      `Approve a typed code only where the same words are shown:  ${checkWords.join(' ')}\n`,
    );
  }
  output.note('Waiting for ten minutes. Ctrl-C cancels.');
}

interface Opened {
  readonly output: Output;
  readonly session: GatehouseClient;
  readonly login: CodeLogin;
  readonly opened: OpenedApproval;
}

/** Nothing is stored before the person has confirmed whose account it is. */
function confirmedAccount(opened: Opened): Promise<HandedAccount> {
  return withAnswers(async (next) => {
    const account = await accountOf(opened, next);
    const { output, session, login } = opened;
    if (login.account !== undefined) {
      if (login.account !== account.accountId) {
        throw refusedError(`The account is ${account.accountId}.`, 'other-account', AGAIN);
      }
      return account;
    }
    output.note(await describeAccount(session, account));
    output.note('Is this your account? [y/N]');
    if (!isYes(await next())) {
      throw refusedError('The account was not added.', 'not-confirmed', AGAIN);
    }
    return account;
  });
}

async function accountOf(
  { output, opened }: Opened,
  next: () => Promise<string | null>,
): Promise<HandedAccount> {
  if (opened.via === 'link') {
    return opened.account;
  }
  if (!process.stdin.isTTY) {
    throw refusedError(
      'A typed code was approved, and without a terminal only a link can be.',
      'link-required',
      AGAIN,
    );
  }
  output.note('The device that approved shows five words now. Type the first three.');
  output.note('If it shows none, type: no');
  let typed = await next();
  while (typed === '') {
    typed = await next();
  }
  return opened.confirm(typed ?? '');
}

async function describeAccount(
  session: GatehouseClient,
  { accountId, key, encryptionMode }: HandedAccount,
): Promise<string> {
  const { identities } = await session.profile();
  const names = identities.map(({ provider, login }) => `${login ?? '(no name)'} (${provider})`);
  const content = encryptionMode === 'e2ee' ? 'end-to-end encrypted' : 'readable by the server';
  return [
    `Account  ${accountId}`,
    ...names.map((name) => oneLine(`Login    ${name}`)),
    `Key      ${key === null ? 'none' : 'a device key, which is stored on this computer'}`,
    `Content  ${content}`,
  ].join('\n');
}

async function requireIdentity(session: GatehouseClient, provider: string): Promise<void> {
  const { identities } = await session.profile();
  if (!identities.some((identity) => identity.provider === provider)) {
    throw refusedError(
      `The account that approved is not connected with ${provider}.`,
      'provider-not-connected',
      `Connect it, or sign in without --provider: gatehouse login --code`,
    );
  }
}

/** Stores the key of a keyed account before the session: without the key the account is lost. */
async function keepAccount(
  store: ServerStore,
  server: string,
  { accountId, key, encryptionMode, settings }: HandedAccount,
): Promise<void> {
  if (key === null) {
    return;
  }
  const stored = await store.saveDeviceKey(server, key.toJwk());
  if (stored.x !== key.publicKey) {
    await refuseWithKey(store, server);
  }
  await store.bindKey(server, accountId);
  await adoptPin(store.pins(server, accountId), { mode: encryptionMode, settings });
}

function explained(error: unknown): never {
  if (error instanceof DeviceNotAdded) {
    throw refusedError(error.message, `device-${error.reason}`, AGAIN);
  }
  if (error instanceof DeviceServerRefused) {
    throw refusedError(error.message, error.reason);
  }
  if (error instanceof DeviceSealError) {
    throw refusedError(error.message, error.reason, SEAL_HINTS[error.reason] ?? AGAIN);
  }
  throw error;
}

const DECEIVED = 'The server may deceive you: report it to its operator. Nothing was stored.';
const SEAL_HINTS: Readonly<Record<string, string>> = {
  'not-for-this-device': DECEIVED,
  'other-account': DECEIVED,
  'words-differ': `If you typed the words as they were shown: ${DECEIVED}`,
};
