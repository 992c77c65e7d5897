import { call, type Answer, type Json, type Target } from './client.js';

/** The account's own routes, for one token. */
export class AccountCalls {
  constructor(
    private readonly target: Target,
    readonly token: string,
  ) {}

  settings = (): Promise<Answer> => this.get('/v1/account/settings');
  settingsV2 = (): Promise<Answer> => this.get('/v2/account/settings');
  encryption = (): Promise<Answer> => this.get('/v1/account/encryption');
  credentials = (): Promise<Answer> => this.get('/v1/account/credentials');
  profile = (): Promise<Answer> => this.get('/v1/account/profile');

  writeSettings(settings: unknown, expectedVersion: unknown): Promise<Answer> {
    return this.send('POST', '/v1/account/settings', { settings, expectedVersion });
  }

  writeSettingsV2(content: unknown, expectedVersion: unknown): Promise<Answer> {
    return this.send('POST', '/v2/account/settings', { content, expectedVersion });
  }

  changeMode(mode: unknown): Promise<Answer> {
    return this.send('PATCH', '/v1/account/encryption', { mode });
  }

  migrate(body: Json): Promise<Answer> {
    return this.send('POST', '/v1/account/encryption/migrate', body);
  }

  credential(service: string): Promise<Answer> {
    return this.get(`/v1/account/credentials/${service}`);
  }

  putCredential(service: string, content: unknown): Promise<Answer> {
    return this.send('PUT', `/v1/account/credentials/${service}`, { content });
  }

  removeCredential(service: string): Promise<Answer> {
    return this.send('DELETE', `/v1/account/credentials/${service}`);
  }

  removeAccount(): Promise<Answer> {
    return this.send('DELETE', '/v1/account');
  }

  private get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  private send(method: string, path: string, body?: Json): Promise<Answer> {
    return call(this.target, method, path, { token: this.token, ...(body && { body }) });
  }
}

export const encrypted = (c: string) => ({ t: 'encrypted', c }) as const;
export const plain = (v: unknown) => ({ t: 'plain', v }) as const;

/** Settings of a server where accounts may be of either kind, and change it. */
export const OPTIONAL = {
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT: '1',
};

/** The same, and new accounts store plain content. */
export const OPTIONAL_PLAIN = {
  ...OPTIONAL,
  SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE: 'plain',
};
