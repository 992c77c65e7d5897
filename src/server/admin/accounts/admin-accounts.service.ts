import { Injectable } from '@nestjs/common';
import * as v from 'valibot';
import { AdmissionService } from '../../auth/admission.service.js';
import { Clock } from '../../../common/runtime/clock.js';
import { UUID } from '../../../common/uuid.js';
import { orRefuse } from '../../../common/errors.js';
import { explainAccount } from '../../../core/policy/findings/explain-account.js';
import { describeGrant } from '../../../core/policy/programs/describe-grant.js';
import { acceptsPrograms } from '../../../core/policy/programs/programs.js';
import { ProgramGrantRepository } from '../../storage/repositories/programs/program-grant.repository.js';
import {
  AccountAdminRepository,
  type AdministeredAccount,
  type AdministeredIdentity,
} from '../../storage/repositories/account-admin.repository.js';
import {
  AccountSearchRepository,
  byIdOrName,
} from '../../storage/repositories/account-search.repository.js';
import { SessionRepository } from '../../storage/repositories/session.repository.js';
import { readCursor, writeCursor } from '../page-cursor.js';
import type {
  AccountPageDto,
  AccountQueryDto,
  AdminIdentityDto,
  AdministeredAccountDto,
} from './admin-accounts.dto.js';

const POSITION = v.object({
  key: v.pipe(v.string(), v.regex(/^\d{1,16}$/)),
  id: UUID,
});

@Injectable()
export class AdminAccountsService {
  constructor(
    private readonly accounts: AccountAdminRepository,
    private readonly searches: AccountSearchRepository,
    private readonly sessions: SessionRepository,
    private readonly admission: AdmissionService,
    private readonly grants: ProgramGrantRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `invalid-request` for an invalid cursor */
  async search({ query, cursor, limit, ...filter }: AccountQueryDto): Promise<AccountPageDto> {
    const after = readCursor(cursor, POSITION);
    const wanted = { ...filter, ...(query !== undefined && byIdOrName(query)) };
    const { accounts, next, total } = await this.searches.page(wanted, after, limit);
    const ids = accounts.map(({ id }) => id);
    const activity = await this.sessions.activityOf(ids, new Date(this.clock.now()));
    return {
      accounts: accounts.map((account) => ({
        ...factsOf(account),
        sessions: activity.get(account.id)?.sessions ?? 0,
        lastSeenAt: activity.get(account.id)?.lastSeenAt ?? account.createdAt,
      })),
      total,
      cursor: writeCursor(next),
    };
  }

  /** @throws AppError `not-found` */
  async find(id: string): Promise<AdministeredAccountDto> {
    const account = orRefuse(await this.accounts.find(id), 'not-found');
    const now = this.clock.now();
    const sessions = await this.sessions.list(account.id, new Date(now));
    const activity = await this.sessions.activityOf([id], new Date(now));
    const { policy } = this.admission;
    const { resourceServers } = policy;
    const grants = acceptsPrograms(resourceServers)
      ? await this.grants.list(id, new Date(now))
      : null;
    return {
      ...factsOf(account),
      lastSeenAt: activity.get(id)?.lastSeenAt ?? account.createdAt,
      sessions: sessions.map(({ clientName: name, clientPlatform: platform, ...session }) => ({
        ...session,
        client: { name, platform },
      })),
      ...(grants !== null && {
        programs: grants.map((grant) => describeGrant(grant, resourceServers)),
      }),
      explain: explainAccount(policy, { ...account, grants: grants ?? [] }, now),
    };
  }
}

function factsOf({ identities, disabledAt, ...account }: AdministeredAccount) {
  const state = disabledAt === null ? ('active' as const) : ('disabled' as const);
  return { ...account, state, disabledAt, identities: identities.map(toIdentity) };
}

function toIdentity(identity: AdministeredIdentity): AdminIdentityDto {
  const { provider, subject, login, facts, connectedAt } = identity;
  const { status, reason, checkedAt, nextCheckAt, failures } = identity;
  return {
    provider,
    subject,
    login,
    email: facts?.email ?? null,
    connectedAt,
    status,
    reason,
    checkedAt,
    nextCheckAt,
    failures,
  };
}
