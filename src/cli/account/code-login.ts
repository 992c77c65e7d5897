import { GatehouseClient } from '../../client/api/api-client.js';
import type {
  ApprovedDevice,
  DeviceRequest,
  LoginAnswer,
} from '../../client/api/api-client-answers.js';
import { DeviceNotAdded, waitForApproval } from '../../client/api/device-routes.js';
import { DeviceKey } from '../../client/crypto/device-key.js';
import { deviceLink } from '../../client/crypto/device-link.js';
import {
  DeviceSealError,
  makeDeviceSecrets,
  openSealedSecret,
  type DeviceSecrets,
} from '../../client/crypto/device-sealing.js';
import { deviceCheckWords } from '../../protocol/device-check-words.js';
import type { CliContext } from '../command.js';
import { refusedError } from '../cli-error.js';
import type { Output } from '../output.js';
import { serverFetch } from '../server-fetch.js';
import type { ServerStore } from './server-store.js';
import { drawQr } from './terminal-qr.js';
import { thisComputer } from './this-computer.js';

interface CodeLogin {
  readonly server: string;
  readonly store: ServerStore;
  readonly provider: string | undefined;
}

export async function logInWithCode(
  { output }: CliContext,
  { server, store, provider }: CodeLogin,
): Promise<LoginAnswer> {
  await refuseWithKey(store, server);
  const client = new GatehouseClient({ serverUrl: server, fetch: serverFetch });
  const secrets = await makeDeviceSecrets();
  const { publicKey, proof } = secrets;
  const request = await client.devices.request({ ...secrets, client: thisComputer });
  const { userCode, expiresAt } = request;
  const link = deviceLink({ serverUrl: server, userCode, publicKey });
  invite(output, { server, userCode, link, expiresAt, checkWords: deviceCheckWords(publicKey) });
  if (provider !== undefined) {
    output.note(`Use an account that is connected with ${provider}.`);
  }
  const approved = await waitForApproval(client.devices, request, proof).catch(explained);
  const session = client.withToken(approved.token);
  try {
    await (provider !== undefined && requireIdentity(session, provider));
    await storeKey(store, server, secrets, approved);
  } catch (error) {
    // The session is not stored. A failure to end it must not hide the failure to report.
    await session.logOut().catch(() => undefined);
    throw error;
  }
  const { token, accountId } = approved;
  return { token, accountId, created: false };
}

/** Checked before a code is shown, because only one key per server can be stored. */
async function refuseWithKey(store: ServerStore, server: string): Promise<void> {
  if ((await store.deviceKey(server)) !== null) {
    throw refusedError(
      `This computer has a device key for ${server} already.`,
      'device-key-exists',
      `Log in with it: gatehouse login --server ${server}\n  For another account use another configuration: XDG_CONFIG_HOME=…`,
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
  output.note(`Or type this code at ${server}/app/device:  ${userCode}`);
  output.note(`In a terminal: gatehouse devices approve ${userCode}`);
  output.note(`Approve only where the same words are shown:  ${checkWords.join(' ')}\n`);
  output.note('Waiting for ten minutes. Ctrl-C cancels.');
}

function explained(error: unknown): never {
  throw error instanceof DeviceNotAdded
    ? refusedError(error.message, `device-${error.reason}`, 'Begin again: gatehouse login --code')
    : error;
}

async function requireIdentity(session: GatehouseClient, provider: string): Promise<void> {
  const { identities } = await session.profile();
  if (!identities.some((identity) => identity.provider === provider)) {
    throw refusedError(
      `The account that approved is not connected with ${provider}.`,
      'provider-not-connected',
      `Connect it, or log in without --provider: gatehouse login --code`,
    );
  }
}

/** Stores the key of a keyed account before the session: without the key the account is lost. */
async function storeKey(
  store: ServerStore,
  server: string,
  secrets: DeviceSecrets,
  { sealed }: ApprovedDevice,
): Promise<void> {
  if (sealed === null) {
    return;
  }
  const key = await openKey(secrets, sealed);
  const stored = await store.saveDeviceKey(server, key.toJwk());
  if (stored.x !== key.publicKey) {
    await refuseWithKey(store, server);
  }
}

async function openKey(secrets: DeviceSecrets, sealed: string): Promise<DeviceKey> {
  try {
    return await DeviceKey.fromSecret(await openSealedSecret(secrets, sealed));
  } catch (error) {
    throw error instanceof DeviceSealError
      ? refusedError(
          'The account was sealed to another key than that of this computer.',
          'not-for-this-device',
          'Begin again, and compare the check words before you approve.',
        )
      : error;
  }
}
