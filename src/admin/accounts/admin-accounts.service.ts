import { Injectable } from '@nestjs/common';
import * as v from 'valibot';
import { Admission } from '../../auth/admission.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { explainAccount } from '../../policy/findings/explain-account.js';
import {
  AccountAdminRepository,
  type AdministeredAccount,
  type AdministeredIdentity,
} from '../../storage/repositories/account-admin.repository.js';
import { AccountSearchRepository } from '../../storage/repositories/account-search.repository.js';
import { SessionRepository } from '../../storage/repositories/session.repository.js';
import { readCursor, writeCursor } from '../page-cursor.js';
import type {
  AccountPageDto,
  AccountQueryDto,
  AdminIdentityDto,
  AdministeredAccountDto,
} from './admin-accounts.dto.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** PostgreSQL has no text with the character NUL. */
const POSITION = v.object({
  key: v.pipe(v.string(), v.excludes('\0')),
  id: v.pipe(v.string(), v.regex(UUID)),
});

/** What administrators see of accounts. */
@Injectable()
export class AdminAccountsService {
  constructor(
    private readonly accounts: AccountAdminRepository,
    private readonly searches: AccountSearchRepository,
    private readonly sessions: SessionRepository,
    private readonly admission: Admission,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `invalid-request` for a cursor of something else */
  async search({ query, cursor, limit, ...filter }: AccountQueryDto): Promise<AccountPageDto> {
    const after = readCursor(cursor, POSITION);
    const isId = query !== undefined && UUID.test(query);
    const { accounts, next } = isId
      ? { accounts: await this.accounts.inOrder([query]), next: null }
      : await this.searches.page({ ...filter, text: query }, after, limit);
    const ids = accounts.map(({ id }) => id);
    const activity = await this.sessions.activityOf(ids, new Date(this.clock.now()));
    return {
      accounts: accounts.map((account) => ({
        ...factsOf(account),
        sessions: activity.get(account.id)?.sessions ?? 0,
        lastSeenAt: activity.get(account.id)?.lastSeenAt ?? null,
      })),
      cursor: writeCursor(next),
    };
  }

  /** @throws AppError `not-found` */
  async find(id: string): Promise<AdministeredAccountDto> {
    const account = UUID.test(id) ? await this.accounts.find(id) : null;
    if (account === null) {
      throw new AppError('not-found');
    }
    const now = this.clock.now();
    const sessions = await this.sessions.list(account.id, new Date(now));
    const lastSeen = sessions.map(({ lastSeenAt }) => lastSeenAt);
    return {
      ...factsOf(account),
      lastSeenAt: lastSeen.length === 0 ? null : Math.max(...lastSeen),
      sessions: sessions.map(({ clientName: name, clientPlatform: platform, ...session }) => ({
        ...session,
        client: { name, platform },
      })),
      explain: explainAccount(this.admission.policy, account, now),
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
    ...{ provider, subject, login, email: facts?.email ?? null, connectedAt },
    ...{ status, reason, checkedAt, nextCheckAt, failures },
  };
}
