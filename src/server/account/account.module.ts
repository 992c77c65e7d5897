import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { LiveConnectionsModule } from '../updates/live-connections.module.js';
import { AccountPageService } from './account-page.service.js';
import { AccountService } from './account.service.js';
import { AccountSettingsController } from './account-settings.controller.js';
import { AccountSettingsService } from './account-settings.service.js';
import { AccountController } from './account.controller.js';
import { ContentRulesService } from './content-rules.service.js';
import { CredentialsController } from './credentials.controller.js';
import { CredentialsService } from './credentials.service.js';
import { EncryptionController } from './encryption.controller.js';
import { EncryptionService } from './encryption.service.js';

/**
 * Owns the profile, the content and the deletion of an account. Does not own login and logout, the
 * rules of what may be stored (policy) nor the tables (storage). Routes: /v1/account,
 * /v1/account/profile, /v1/account/settings, /v2/account/settings, /v1/account/encryption,
 * …/encryption/migrate, /v1/account/credentials and …/:service, and the page at /app.
 */
@Module({
  imports: [AuditModule, AuthModule, LiveConnectionsModule, StorageModule],
  controllers: [
    AccountController,
    AccountSettingsController,
    CredentialsController,
    EncryptionController,
  ],
  providers: [
    AccountPageService,
    AccountService,
    ContentRulesService,
    AccountSettingsService,
    CredentialsService,
    EncryptionService,
  ],
})
export class AccountModule {}
