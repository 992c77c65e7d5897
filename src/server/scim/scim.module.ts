import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { IdentitiesModule } from '../identities/identities.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { DirectoriesService } from './directories.service.js';
import { DirectoryChangesService } from './directory-changes.service.js';
import { DirectoryMetricsService } from './directory-metrics.service.js';
import { ScimAuthenticationHook } from './scim-authentication.hook.js';
import { ScimController } from './scim.controller.js';
import { ScimUsersService } from './scim-users.service.js';

/**
 * Owns the SCIM 2.0 endpoint (RFC 7643, RFC 7644) through which directories report leavers. It is
 * loaded only where an entry of the providers file has `signals.scim`. Does not own the rules about
 * people (policy), nor the check at logins (identities). The people are read for admission alone.
 * Routes: /v1/scim/:provider/v2/*.
 */
@Module({
  imports: [AuditModule, AuthModule, IdentitiesModule, MetricsModule, StorageModule],
  controllers: [ScimController],
  providers: [
    DirectoriesService,
    DirectoryChangesService,
    DirectoryMetricsService,
    ScimAuthenticationHook,
    ScimUsersService,
  ],
})
export class ScimModule {}
