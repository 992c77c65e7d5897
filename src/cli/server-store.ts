import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeviceKeyJwk } from '../client/device-key.js';
import { isRecord } from '../client/problem.js';
import { CliError } from './cli-error.js';
import { EXIT } from './exit-codes.js';
import {
  configDirectory,
  createPrivateFile,
  makePrivateDirectory,
  readIfExists,
  writePrivateFile,
} from './private-files.js';

/** A login that this user holds. */
export interface StoredSession {
  readonly server: string;
  readonly accountId: string;
  readonly token: string;
}

const DIGEST_LENGTH = 12;

/**
 * What this user keeps per server: a device key and a session. Keys are not shared between servers,
 * so that two servers cannot tell that an account is the same person's.
 */
export class ServerStore {
  private readonly root: string;

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.root = configDirectory(environment);
  }

  /** The server last logged in to. */
  async lastServer(): Promise<string | null> {
    const stored = await this.read(join(this.root, 'last-server.json'));
    const server = stored?.['server'];
    return typeof server === 'string' ? server : null;
  }

  async session(server: string): Promise<StoredSession | null> {
    const path = join(this.directoryOf(server), 'session.json');
    const stored = await this.read(path);
    if (stored === null) {
      return null;
    }
    const { accountId, token } = stored;
    if (typeof accountId !== 'string' || typeof token !== 'string') {
      throw damaged(path, 'Log in again: gatehouse login');
    }
    return { server, accountId, token };
  }

  async keepSession(session: StoredSession): Promise<void> {
    const directory = await this.makeDirectory(session.server);
    await writePrivateFile(join(directory, 'session.json'), toText(session));
    const last = { server: session.server };
    await writePrivateFile(join(this.root, 'last-server.json'), toText(last));
  }

  /** The device key stays: with it the account can be entered again. */
  async forgetSession(server: string): Promise<void> {
    await rm(join(this.directoryOf(server), 'session.json'), { force: true });
  }

  async deviceKey(server: string): Promise<DeviceKeyJwk | null> {
    const path = join(this.directoryOf(server), 'device-key.json');
    const stored = await this.read(path);
    if (stored !== null && !isDeviceKey(stored)) {
      throw damaged(path, 'Restore it from a backup; without it this account is lost.');
    }
    return stored;
  }

  /** Keeps the key of an account, unless there is one. Returns the key that is kept. */
  async keepDeviceKey(server: string, key: DeviceKeyJwk): Promise<DeviceKeyJwk> {
    const directory = await this.makeDirectory(server);
    const isKept = await createPrivateFile(join(directory, 'device-key.json'), toText(key));
    return isKept ? key : ((await this.deviceKey(server)) ?? key);
  }

  /** The same for a key that was just made: it {@link awaitsAccount}, also after a crash. */
  async keepNewDeviceKey(server: string, key: DeviceKeyJwk): Promise<DeviceKeyJwk> {
    await this.makeDirectory(server);
    // Before the key: a key without the mark is taken for that of an account.
    await writePrivateFile(this.awaitingFile(server), '');
    return this.keepDeviceKey(server, key);
  }

  /** Whether the device key was made here and no login with it has succeeded yet. */
  async awaitsAccount(server: string): Promise<boolean> {
    return (await readIfExists(this.awaitingFile(server))) !== null;
  }

  async noteAccount(server: string): Promise<void> {
    await rm(this.awaitingFile(server), { force: true });
  }

  /** Where notification settings are kept that the server cannot read. */
  notificationsFile(server: string): string {
    return join(this.directoryOf(server), 'notifications.json');
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

  /** The host for people, the digest because two addresses may share one. */
  private directoryOf(server: string): string {
    const digest = createHash('sha256').update(server).digest('hex').slice(0, DIGEST_LENGTH);
    const host = new URL(server).host.replace(/[^\w.-]/g, '-').slice(0, 100);
    return join(this.root, 'servers', `${host}-${digest}`);
  }

  private async read(path: string): Promise<Record<string, unknown> | null> {
    const text = await readIfExists(path);
    if (text === null) {
      return null;
    }
    try {
      const stored: unknown = JSON.parse(text);
      if (isRecord(stored)) {
        return stored;
      }
    } catch {
      // Said below, in words and with the path.
    }
    throw damaged(path, 'Remove it, or restore it from a backup.');
  }
}

function isDeviceKey(
  value: Record<string, unknown>,
): value is Record<string, unknown> & DeviceKeyJwk {
  const { kty, crv, x, d } = value;
  return kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && typeof d === 'string';
}

function damaged(path: string, hint: string): CliError {
  const facts = { exitCode: EXIT.configuration, code: 'damaged-file', hint };
  return new CliError(`${path} is damaged.`, facts);
}

function toText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
