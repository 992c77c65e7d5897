import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { IdentityEvents, type AccessChange } from '../../auth/identity-events.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import {
  AccountAdminRepository,
  type AdminAct,
} from '../../storage/repositories/account-admin.repository.js';
import { SessionRepository } from '../../storage/repositories/session.repository.js';
import type { AdminCaller } from '../access/admin-caller.js';
import type { ActAnswerDto } from './admin-accounts.dto.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of a disabled or deleted account, or one whose tokens were revoked, live connections end. */
const CLOSES: Readonly<Partial<Record<AdminAct, AccessChange['closes']>>> = {
  'account-disabled': 'account-disabled',
  'all-tokens-revoked': 'token-revoked',
  'account-deleted': 'token-revoked',
};

/** What administrators do to accounts: stored first, then announced to every replica. */
@Injectable()
export class AdminActsService {
  constructor(
    private readonly accounts: AccountAdminRepository,
    private readonly sessions: SessionRepository,
    private readonly events: IdentityEvents,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `not-found` */
  async act(
    act: AdminAct,
    accountId: string,
    { name: actor }: AdminCaller,
    reason: string,
  ): Promise<ActAnswerDto> {
    const now = new Date(this.clock.now());
    const origin = { actor, reason };
    const outcome = UUID.test(accountId)
      ? await this.accounts.act(act, accountId, origin, now)
      : 'not-found';
    if (outcome === 'not-found') {
      throw new AppError('not-found');
    }
    // Also where nothing changed: the announcement of the first one may have been lost.
    if (act === 'recheck-requested') {
      this.events.emit('identities-due');
    } else {
      const closes = CLOSES[act];
      this.events.announceAccessChange({ accountId, ...(closes !== undefined && { closes }) });
    }
    if (outcome === 'done') {
      this.audit.log({ kind: act, accountId, ...origin });
    }
    return { success: true, changed: outcome === 'done' };
  }

  /** @throws AppError `not-found` for a session that has ended, or of another account */
  async endSession(
    accountId: string,
    sessionId: string,
    { name: actor }: AdminCaller,
    reason: string,
  ): Promise<ActAnswerDto> {
    const by = { actor, reason };
    const isThere =
      UUID.test(accountId) &&
      UUID.test(sessionId) &&
      (await this.sessions.end(accountId, sessionId, by, new Date(this.clock.now())));
    if (!isThere) {
      throw new AppError('not-found');
    }
    this.events.announceAccessChange({ accountId, sessionId, closes: 'token-revoked' });
    this.audit.log({ kind: 'token-revoked', accountId, sessionId, ...by });
    return { success: true, changed: true };
  }
}
