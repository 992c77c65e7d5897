import { Module } from '@nestjs/common';
import { DirectoryLinkRepository } from '../repositories/directory/directory-link.repository.js';
import { DirectoryNameRepository } from '../repositories/directory/directory-name.repository.js';
import { DirectoryPersonRepository } from '../repositories/directory/directory-person.repository.js';
import { IdentitySignalRepository } from '../repositories/directory/identity-signal.repository.js';
import { OrganizationRepository } from '../repositories/directory/organization.repository.js';
import { PersonRefusalRepository } from '../repositories/directory/person-refusal.repository.js';
import { IdentityDueRepository } from '../repositories/identity-due.repository.js';
import { IdentityRepository } from '../repositories/identity.repository.js';
import { KeylessRepository } from '../repositories/keyless.repository.js';
import { ProviderLogoutRepository } from '../repositories/signals/provider-logout.repository.js';
import { ReceivedEventRepository } from '../repositories/signals/received-event.repository.js';
import { ProviderSignalRepository } from '../repositories/signals/provider-signal.repository.js';
import { SignalStreamRepository } from '../repositories/signals/signal-stream.repository.js';
import { StorageModule } from '../storage.module.js';

const repositories = [
  DirectoryLinkRepository,
  DirectoryNameRepository,
  DirectoryPersonRepository,
  IdentityDueRepository,
  IdentityRepository,
  IdentitySignalRepository,
  KeylessRepository,
  OrganizationRepository,
  PersonRefusalRepository,
  ProviderLogoutRepository,
  ProviderSignalRepository,
  ReceivedEventRepository,
  SignalStreamRepository,
];

/**
 * Owns the identities of accounts: links, logins with them, re-checks that are due, sign-outs at their
 * providers, and the time of their last signals. Does not own the rules about them (policy). Routes: none.
 */
@Module({
  imports: [StorageModule],
  providers: repositories,
  exports: repositories,
})
export class IdentitiesStorageModule {}
