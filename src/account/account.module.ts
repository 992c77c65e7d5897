import { Module } from '@nestjs/common';
import { UpdatesModule } from '../updates/updates.module.js';
import { AccountRemovalService } from './account-removal.service.js';
import { AccountSettingsController } from './account-settings.controller.js';
import { AccountSettingsService } from './account-settings.service.js';
import { AccountController } from './account.controller.js';
import { CredentialsController } from './credentials.controller.js';
import { CredentialsService } from './credentials.service.js';
import { EncryptionController } from './encryption.controller.js';
import { EncryptionService } from './encryption.service.js';
import { MigrationService } from './migration.service.js';

/**
 * Owns what an account sees, stores and ends of itself. Does not own logging in or out (auth), what
 * may be stored (policy) nor how it lies in the database (storage).
 * Routes: /v1/account, /v1/account/profile, /v1/account/settings, /v2/account/settings,
 * /v1/account/encryption, …/encryption/migrate, /v1/account/credentials and …/credentials/:service.
 */
@Module({
  imports: [UpdatesModule],
  controllers: [
    AccountController,
    AccountSettingsController,
    CredentialsController,
    EncryptionController,
  ],
  providers: [
    AccountRemovalService,
    AccountSettingsService,
    CredentialsService,
    EncryptionService,
    MigrationService,
  ],
})
export class AccountModule {}
