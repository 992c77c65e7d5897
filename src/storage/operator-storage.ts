import { Database } from './database.js';
import { AccountEntity } from './entities/account.entity.js';
import { IdentityEntity } from './entities/identity.entity.js';
import { AccountAdminRepository } from './repositories/account-admin.repository.js';
import { AccountSearchRepository } from './repositories/account-search.repository.js';
import { AuditRepository } from './repositories/audit.repository.js';
import { InvitationRepository } from './repositories/invitation.repository.js';
import type { ServerDataSource } from './server-data-source.js';

/** Storage for commands that run without Nest, beside a server. */
export interface OperatorStorage {
  readonly database: Database;
  readonly accounts: AccountAdminRepository;
  readonly search: AccountSearchRepository;
  readonly audit: AuditRepository;
  readonly invitations: InvitationRepository;
}

/** Opens an initialized data source, whose schema is current. */
export function openOperatorStorage(source: ServerDataSource): OperatorStorage {
  source.open(false);
  const database = new Database(source);
  const accounts = source.getRepository(AccountEntity);
  const identities = source.getRepository(IdentityEntity);
  const administered = new AccountAdminRepository(database, accounts, identities);
  return {
    database,
    accounts: administered,
    search: new AccountSearchRepository(database, administered),
    audit: new AuditRepository(database),
    invitations: new InvitationRepository(database),
  };
}
