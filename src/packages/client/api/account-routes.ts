import type { AccountMode } from '../../../core/policy/operator-policy.js';
import type { Content } from '../../../core/protocol/content.js';
import type {
  Encryption,
  SettingsWrite,
  StoredCredential,
  StoredSettings,
} from './api-client-answers.js';
import type { AnswerOf } from './api-client-answers.js';
import type { RequestOf, Routes } from './api-routes.js';

type Migration = RequestOf<'POST /v1/account/encryption/migrate'>['body'];

/** The settings document of the account. */
export class SettingsRoutes {
  constructor(private readonly routes: Routes) {}

  read(): Promise<StoredSettings> {
    return this.routes.send('GET /v2/account/settings', {});
  }

  /** Writes if the stored version is still `expectedVersion`; 0 = nothing is stored yet. */
  write(content: Content | null, expectedVersion: number): Promise<SettingsWrite> {
    const request = { body: { content, expectedVersion } };
    return this.routes.send('POST /v2/account/settings', request);
  }

  /** Version 1, for older servers; refused for accounts whose content is plain. */
  readV1(): Promise<AnswerOf<'GET /v1/account/settings'>> {
    return this.routes.send('GET /v1/account/settings', {});
  }

  /** @param settings as the client encrypted them */
  writeV1(
    settings: string | null,
    expectedVersion: number,
  ): Promise<AnswerOf<'POST /v1/account/settings'>> {
    const request = { body: { settings, expectedVersion } };
    return this.routes.send('POST /v1/account/settings', request);
  }
}

/** Routes of the account's encryption mode. */
export class EncryptionRoutes {
  constructor(private readonly routes: Routes) {}

  read(): Promise<Encryption> {
    return this.routes.send('GET /v1/account/encryption', {});
  }

  /** Possible while nothing is stored; otherwise the server requires {@link migrate}. */
  change(mode: AccountMode): Promise<Encryption> {
    return this.routes.send('PATCH /v1/account/encryption', { body: { mode } });
  }

  /** Changes the mode and rewrites everything stored, in one transaction. */
  migrate(migration: Migration): Promise<SettingsWrite | { readonly success: true }> {
    const route = 'POST /v1/account/encryption/migrate';
    return this.routes.send(route, { body: migration });
  }
}

/** Credentials of connected services, one envelope per service. */
export class CredentialRoutes {
  constructor(private readonly routes: Routes) {}

  /** Returns the credentials in the order of their services. */
  async list(): Promise<readonly StoredCredential[]> {
    const answer = await this.routes.send('GET /v1/account/credentials', {});
    return answer.credentials;
  }

  find(service: string): Promise<StoredCredential> {
    const route = 'GET /v1/account/credentials/{service}';
    return this.routes.send(route, { path: { service } });
  }

  async put(service: string, content: Content): Promise<void> {
    const request = { path: { service }, body: { content } };
    await this.routes.run('PUT /v1/account/credentials/{service}', request);
  }

  /** Also succeeds where there is none. */
  async remove(service: string): Promise<void> {
    const route = 'DELETE /v1/account/credentials/{service}';
    await this.routes.run(route, { path: { service } });
  }
}
