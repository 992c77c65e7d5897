import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, type Answer, type CallOptions } from '../helpers/client.js';
import type { Server } from '../helpers/server.js';

export interface TokenEntry {
  readonly name: string;
  readonly sha256: string;
  readonly role: string;
}

const secret = (): string => randomBytes(32).toString('base64url');

/** The tokens of one administrator of each role, and the file that names them. */
export class AdminTokensFile {
  readonly operator = secret();
  readonly reader = secret();

  private constructor(private readonly directory: string) {}

  static async create(): Promise<AdminTokensFile> {
    const file = new AdminTokensFile(await mkdtemp(join(tmpdir(), 'gatehouse-admin-')));
    await file.write(file.entries);
    return file;
  }

  get path(): string {
    return join(this.directory, 'tokens.json');
  }

  get entries(): readonly TokenEntry[] {
    return [entryOf('alice', this.operator, 'operate'), entryOf('rita', this.reader, 'read')];
  }

  /** No limit: tests ask more often than any administrator. */
  get env(): Record<string, string> {
    return {
      ADMIN_PORT: '0',
      ADMIN_TOKENS_FILE: this.path,
      ADMIN_RATE_LIMIT_PER_MINUTE: '1000000',
    };
  }

  async write(contents: unknown): Promise<void> {
    const text = typeof contents === 'string' ? contents : JSON.stringify(contents);
    await writeFile(this.path, text);
  }

  remove(): Promise<void> {
    return rm(this.directory, { recursive: true, force: true });
  }
}

export function entryOf(name: string, token: string, role: string): TokenEntry {
  return { name, sha256: createHash('sha256').update(token).digest('hex'), role };
}

/** Where the administration of a server listens. */
export async function adminUrlOf(server: Server): Promise<string> {
  const [, url = ''] = await server.logged(/Administration on (https?:\/\/[^"\s]+)/);
  return url;
}

/** Calls of one administrator. */
export class AdminCalls {
  constructor(
    readonly url: string,
    private readonly token: string,
  ) {}

  get(path: string, options: CallOptions = {}): Promise<Answer> {
    return call(this, 'GET', `/admin/v1${path}`, { token: this.token, ...options });
  }

  act(accountId: string, act: string, reason = 'a reason'): Promise<Answer> {
    const body = { reason };
    return call(this, 'POST', `/admin/v1/accounts/${accountId}/${act}`, {
      token: this.token,
      body,
    });
  }

  remove(path: string, reason = 'a reason'): Promise<Answer> {
    return call(this, 'DELETE', `/admin/v1/accounts/${path}`, {
      token: this.token,
      body: { reason },
    });
  }
}
