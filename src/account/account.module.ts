import { Module } from '@nestjs/common';
import { AccountPage } from './account-page.js';
import { AccountService } from './account.service.js';
import { AccountSettingsController } from './account-settings.controller.js';
import { AccountSettingsService } from './account-settings.service.js';
import { AccountController } from './account.controller.js';
import { ContentRules } from './content-rules.js';
import { CredentialsController } from './credentials.controller.js';
import { CredentialsService } from './credentials.service.js';
import { EncryptionController } from './encryption.controller.js';
import { EncryptionService } from './encryption.service.js';

/**
 * Owns the profile, the content and the deletion of an account. Does not own login and logout, the
 * rules of what may be stored (policy) nor the tables (storage).
 * Routes: /v1/account, /v1/account/profile, /v1/account/settings, /v2/account/settings,
 * /v1/account/encryption, …/encryption/migrate, /v1/account/credentials and …/credentials/:service,
 * and the account page at /app.
 */
@Module({
  controllers: [
    AccountController,
    AccountSettingsController,
    CredentialsController,
    EncryptionController,
  ],
  providers: [
    AccountPage,
    AccountService,
    ContentRules,
    AccountSettingsService,
    CredentialsService,
    EncryptionService,
  ],
})
export class AccountModule {}
