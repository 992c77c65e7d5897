import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  readPin,
  type AccountPin,
  type PinStore,
} from '../../../packages/client/settings/account-pin.js';
import type { DeviceKey, DeviceKeyJwk } from '../../../packages/client/crypto/device-key.js';
import { parseServerUrl } from '../../../packages/client/api/server-url.js';
import { parseJson } from '../../../common/parse-json.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import { type CliError, configurationError, notLoggedInError, refusedError } from '../cli-error.js';
import {
  createPrivateFile,
  makePrivateDirectory,
  readIfExists,
  syncDirectory,
  userDirectory,
  writePrivateFile,
} from '../../../common/private-files.js';
import { readBase64 } from '../../../core/protocol/base64.js';
import { withFileLock } from '../file-lock.js';

export interface StoredSession {
  readonly server: string;
  readonly accountId: string;
  readonly token: string;
}

const DIGEST_LENGTH = 12;
const SECRET_BYTES = 32;
const REMOVE = 'Remove it, or restore it from a backup.';
const KEY_LOST = 'Restore it from a backup; without it this account is lost.';

/** Each server gets its own key, so that two servers cannot link the accounts of one person. */
export class ServerStore {
  private readonly root: string;

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.root = userDirectory('config', environment);
  }

  lastServer(): Promise<string | null> {
    return this.readServer('last-server.json');
  }

  /** Returns the server of the newest device key, for suggestions: nothing is sent there unasked. */
  keyServer(): Promise<string | null> {
    return this.readServer('key-server.json');
  }

  async session(server: string): Promise<StoredSession | null> {
    const path = join(this.directoryOf(server), 'session.json');
    const stored = await this.read(path);
    if (stored === null) {
      return null;
    }
    const { accountId, token } = stored;
    if (typeof accountId !== 'string' || typeof token !== 'string') {
      throw damaged(path, 'Sign in again: gatehouse login');
    }
    return { server, accountId, token };
  }

  async saveSession(session: StoredSession): Promise<void> {
    const directory = await this.makeDirectory(session.server);
    await writePrivateFile(join(directory, 'session.json'), toText(session));
    const last = { server: session.server };
    await writePrivateFile(join(this.root, 'last-server.json'), toText(last));
  }

  async removeSession(server: string): Promise<void> {
    await rm(join(this.directoryOf(server), 'session.json'), { force: true });
  }

  async deviceKey(server: string): Promise<DeviceKeyJwk | null> {
    const path = this.keyFile(server);
    const stored = await this.read(path, KEY_LOST);
    if (stored !== null && !isDeviceKey(stored)) {
      throw damaged(path, KEY_LOST);
    }
    return stored;
  }

  async saveDeviceKey(server: string, key: DeviceKeyJwk): Promise<DeviceKeyJwk> {
    const directory = await this.makeDirectory(server);
    await writePrivateFile(join(this.root, 'key-server.json'), toText({ server }));
    const isNew = await createPrivateFile(this.keyFile(server), toText(key));
    if (!isNew) {
      return (await this.deviceKey(server)) ?? key;
    }
    await writePrivateFile(this.keyAccountFile(server), toText({ accountId: null }));
    await syncDirectory(directory);
    return key;
  }

  async removeDeviceKey(server: string): Promise<void> {
    await this.confirmAccount(server);
    await rm(this.keyFile(server), { force: true });
    await rm(this.keyAccountFile(server), { force: true });
  }

  /**
   * Returns the account of the device key; null where this computer does not know it yet. The server
   * could name another one, of which this computer has seen no settings.
   */
  async keyAccount(server: string): Promise<string | null> {
    const path = this.keyAccountFile(server);
    const stored = await this.read(path);
    if (stored === null) {
      return this.provenAccount(server);
    }
    const { accountId } = stored;
    if (typeof accountId !== 'string' && accountId !== null) {
      throw damaged(path, 'Restore it from a backup.');
    }
    return accountId;
  }

  /** Keeps the first account of the device key. @returns the account that is kept */
  async bindKey(server: string, accountId: string): Promise<string> {
    const path = this.keyAccountFile(server);
    await this.makeDirectory(server);
    return withFileLock(path, async () => {
      const known = (await this.keyAccount(server)) ?? accountId;
      await writePrivateFile(path, toText({ accountId: known }));
      return known;
    });
  }

  /** Returns the 32 bytes that decrypt the account's content; null where there is no device key. */
  async accountSecret(server: string): Promise<Uint8Array | null> {
    const stored = await this.deviceKey(server);
    return stored === null ? null : readBase64(stored.d, SECRET_BYTES, SECRET_BYTES);
  }

  /** Returns the pin of an account, which stays when its session and its key are removed. */
  pins(server: string, accountId: string): PinStore {
    const path = this.pinFile(server, accountId);
    const read = async () => {
      const stored = await this.read(path);
      const pin = readPin(stored);
      if (stored !== null && pin === null) {
        throw damaged(path, 'Restore it from a backup, or remove it to begin without it.');
      }
      return pin;
    };
    const update = async (change: (before: AccountPin | null) => AccountPin) => {
      await this.makeDirectory(server);
      await withFileLock(path, async () => writePrivateFile(path, toText(change(await read()))));
    };
    return { read, update };
  }

  /** Forgets an account that was deleted. */
  async forgetAccount(server: string, accountId: string): Promise<void> {
    const isOfKey = (await this.keyAccount(server)) === accountId;
    await rm(this.pinFile(server, accountId), { force: true });
    if (isOfKey) {
      await rm(this.keyAccountFile(server), { force: true });
    }
  }

  /** @throws CliError where this computer has no device key for the server */
  async requireDeviceKey(server: string): Promise<DeviceKey> {
    const stored = await this.deviceKey(server);
    if (stored === null) {
      throw notLoggedInError(
        `This computer has no device key for ${server}.`,
        'no-device-key',
        `For a new account: gatehouse signup --server ${server}\n  For an account that you have: gatehouse key restore --server ${server}`,
      );
    }
    return this.openKey(server, stored);
  }

  /**
   * Saves the key of a new account before the server receives it: an account without its key is
   * lost. A failed sign-up's key is used again.
   * @throws CliError where the key of an account is stored
   */
  async requireNewDeviceKey(server: string): Promise<DeviceKey> {
    const stored = await this.deviceKey(server);
    if (stored !== null && !(await this.awaitsAccount(server))) {
      throw refusedError(
        `This computer has the device key of an account on ${server} already.`,
        'device-key-exists',
        `Sign in with it: gatehouse login --server ${server}\n  For a second account, run both commands with another directory in XDG_CONFIG_HOME.`,
      );
    }
    return this.openKey(server, stored ?? (await this.createDeviceKey(server)));
  }

  async awaitsAccount(server: string): Promise<boolean> {
    return (await readIfExists(this.awaitingFile(server))) !== null;
  }

  async confirmAccount(server: string): Promise<void> {
    await rm(this.awaitingFile(server), { force: true });
  }

  async isOlderServer(server: string): Promise<boolean> {
    return (await readIfExists(this.olderServerFile(server))) !== null;
  }

  async rememberOlderServer(server: string): Promise<void> {
    await this.makeDirectory(server);
    await writePrivateFile(this.olderServerFile(server), '');
  }

  /** Where an earlier version kept the notification settings of end-to-end encrypted accounts. */
  notificationsFile(server: string): string {
    return join(this.directoryOf(server), 'notifications.json');
  }

  private async createDeviceKey(server: string): Promise<DeviceKeyJwk> {
    await this.makeDirectory(server);
    // Written before the key: a key without this file counts as the key of an account.
    await writePrivateFile(this.awaitingFile(server), '');
    const { DeviceKey } = await loadDeviceKey();
    const key = await DeviceKey.generate();
    return this.saveDeviceKey(server, key.toJwk());
  }

  private olderServerFile(server: string): string {
    return join(this.directoryOf(server), 'older-server');
  }

  /** Only the key of an account opens its settings: an earlier version kept no other record. */
  private async provenAccount(server: string): Promise<string | null> {
    const session = await this.session(server);
    const pin = session && (await this.pins(server, session.accountId).read());
    return pin?.settings ? (session?.accountId ?? null) : null;
  }

  private async openKey(server: string, stored: DeviceKeyJwk): Promise<DeviceKey> {
    const { DeviceKey } = await loadDeviceKey();
    return DeviceKey.fromJwk(stored).catch(() => {
      throw damaged(this.keyFile(server), KEY_LOST);
    });
  }

  private keyFile(server: string): string {
    return join(this.directoryOf(server), 'device-key.json');
  }

  private keyAccountFile(server: string): string {
    return join(this.directoryOf(server), 'key-account.json');
  }

  private pinFile(server: string, accountId: string): string {
    return join(this.directoryOf(server), `pin-${digestOf(accountId)}.json`);
  }

  private awaitingFile(server: string): string {
    return join(this.directoryOf(server), 'awaits-account');
  }

  private async makeDirectory(server: string): Promise<string> {
    const directory = this.directoryOf(server);
    for (const path of [this.root, join(this.root, 'servers'), directory]) {
      await makePrivateDirectory(path);
    }
    return directory;
  }

  /** A digest follows the host, because two addresses may share a host. */
  private directoryOf(server: string): string {
    const host = new URL(server).host.replace(/[^\w.-]/g, '-').slice(0, 100);
    return join(this.root, 'servers', `${host}-${digestOf(server)}`);
  }

  private async readServer(file: string): Promise<string | null> {
    const path = join(this.root, file);
    const stored = await this.read(path);
    const server = parseServerUrl(String(stored?.['server']));
    if (stored !== null && server === null) {
      throw damaged(path, REMOVE);
    }
    return server;
  }

  private async read(path: string, hint = REMOVE): Promise<Record<string, unknown> | null> {
    const text = await readIfExists(path);
    if (text === null) {
      return null;
    }
    const stored = parseJson(text);
    if (isRecord(stored)) {
      return stored;
    }
    throw damaged(path, hint);
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}

/** Loaded on demand: most commands only send the session's token. */
function loadDeviceKey() {
  return import('../../../packages/client/crypto/device-key.js');
}

function isDeviceKey(
  value: Record<string, unknown>,
): value is Record<string, unknown> & DeviceKeyJwk {
  const { kty, crv, x, d } = value;
  return kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && typeof d === 'string';
}

function damaged(path: string, hint: string): CliError {
  return configurationError(`${path} is damaged.`, 'damaged-file', hint);
}

function toText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
