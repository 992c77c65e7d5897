import type { Content } from '../policy/content.js';
import type { AccountMode } from '../policy/storage-policy.js';
import {
  isCredential,
  isCredentialList,
  isEncryption,
  isSettingsWrite,
  isStoredSettings,
  isSuccess,
  type Encryption,
  type SettingsWrite,
  type StoredCredential,
  type StoredSettings,
} from './api-client-answers.js';
import type { AnswerOf, RequestOf, Routes } from './api-routes.js';
import { isRecord } from './problem.js';

type LegacySettings = AnswerOf<'GET /v1/account/settings'>;
type LegacyWrite = AnswerOf<'POST /v1/account/settings'>;
type Migration = RequestOf<'POST /v1/account/encryption/migrate'>['body'];

/** The settings document of the account. */
export class SettingsRoutes {
  constructor(private readonly routes: Routes) {}

  read(): Promise<StoredSettings> {
    return this.routes.send('GET /v2/account/settings', {}, isStoredSettings);
  }

  /** Writes where nobody else has since `expectedVersion` (0 = nobody ever). */
  write(content: Content | null, expectedVersion: number): Promise<SettingsWrite> {
    const request = { body: { content, expectedVersion } };
    return this.routes.send('POST /v2/account/settings', request, isSettingsWrite);
  }

  /** The first surface, for older servers; refused for accounts whose content is plain. */
  readV1(): Promise<LegacySettings> {
    return this.routes.send('GET /v1/account/settings', {}, isLegacySettings);
  }

  /** @param settings as the client encrypted them */
  writeV1(settings: string | null, expectedVersion: number): Promise<LegacyWrite> {
    const request = { body: { settings, expectedVersion } };
    return this.routes.send('POST /v1/account/settings', request, isLegacyWrite);
  }
}

/** Whether the account's content is encrypted by its own keys. */
export class EncryptionRoutes {
  constructor(private readonly routes: Routes) {}

  read(): Promise<Encryption> {
    return this.routes.send('GET /v1/account/encryption', {}, isEncryption);
  }

  /** While nothing is stored; else the server asks for a {@link migrate}. */
  change(mode: AccountMode): Promise<Encryption> {
    return this.routes.send('PATCH /v1/account/encryption', { body: { mode } }, isEncryption);
  }

  /** Changes it with all that is stored: everything at once, or nothing. */
  migrate(migration: Migration): Promise<SettingsWrite | { readonly success: true }> {
    const route = 'POST /v1/account/encryption/migrate';
    return this.routes.send(route, { body: migration }, isSettingsWrite);
  }
}

/** Credentials of connected services, one envelope per service. */
export class CredentialRoutes {
  constructor(private readonly routes: Routes) {}

  /** By service. */
  async list(): Promise<readonly StoredCredential[]> {
    const answer = await this.routes.send('GET /v1/account/credentials', {}, isCredentialList);
    return answer.credentials;
  }

  find(service: string): Promise<StoredCredential> {
    const route = 'GET /v1/account/credentials/{service}';
    return this.routes.send(route, { path: { service } }, isCredential);
  }

  async put(service: string, content: Content): Promise<void> {
    const request = { path: { service }, body: { content } };
    await this.routes.send('PUT /v1/account/credentials/{service}', request, isSuccess);
  }

  /** Succeeds whether there were any or not. */
  async remove(service: string): Promise<void> {
    const route = 'DELETE /v1/account/credentials/{service}';
    await this.routes.send(route, { path: { service } }, isSuccess);
  }
}

function isLegacySettings(value: unknown): value is LegacySettings {
  return isRecord(value) && typeof value['settingsVersion'] === 'number';
}

function isLegacyWrite(value: unknown): value is LegacyWrite {
  return isRecord(value) && typeof value['success'] === 'boolean';
}
