import { Random } from '../../common/runtime/random.js';
import { DatabaseService } from './database.service.js';
import { AccountEntity } from './entities/account.entity.js';
import { IdentityEntity } from './entities/identity.entity.js';
import { AccountAdminRepository } from './repositories/account-admin.repository.js';
import { AccountSearchRepository } from './repositories/account-search.repository.js';
import { AuditRepository } from './repositories/audit.repository.js';
import { SigningKeyEntity } from './entities/signing-key.entity.js';
import { PersonRefusalRepository } from './repositories/directory/person-refusal.repository.js';
import { InvitationRepository } from './repositories/invitation.repository.js';
import { SigningKeyRepository } from './repositories/oauth/signing-key.repository.js';
import { ProgramGrantRepository } from './repositories/programs/program-grant.repository.js';
import type { SealedBoxService } from './sealing/sealed-box.service.js';
import type { ServerDataSource } from './server-data-source.js';

export interface OperatorStorage {
  readonly database: DatabaseService;
  readonly accounts: AccountAdminRepository;
  readonly search: AccountSearchRepository;
  readonly audit: AuditRepository;
  readonly grants: ProgramGrantRepository;
  readonly invitations: InvitationRepository;
  readonly refusals: PersonRefusalRepository;
}

export function openOperatorStorage(source: ServerDataSource): OperatorStorage {
  source.open(false);
  const database = new DatabaseService(source);
  const random = new Random();
  const accounts = source.getRepository(AccountEntity);
  const identities = source.getRepository(IdentityEntity);
  const administered = new AccountAdminRepository(database, accounts, identities);
  return {
    database,
    accounts: administered,
    search: new AccountSearchRepository(database, administered),
    audit: new AuditRepository(database),
    grants: new ProgramGrantRepository(database, random),
    invitations: new InvitationRepository(database, random),
    refusals: new PersonRefusalRepository(database),
  };
}

/** Opened apart: signing keys need the master secret, which most commands do without. */
export function openSigningKeys(
  source: ServerDataSource,
  database: DatabaseService,
  box: SealedBoxService,
  random: Random,
): SigningKeyRepository {
  const keys = source.getRepository(SigningKeyEntity);
  return new SigningKeyRepository(database, box, random, keys);
}
