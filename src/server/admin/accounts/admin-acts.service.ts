import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service.js';
import { IdentityEvents, type AccessChange } from '../../auth/identity.events.js';
import { Clock } from '../../../common/runtime/clock.js';
import { AppError, orRefuse } from '../../../common/errors.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import {
  AccountAdminRepository,
  type ActOrigin,
  type AdminAct,
} from '../../storage/repositories/account-admin.repository.js';
import { SessionEndRepository } from '../../storage/repositories/session-end.repository.js';
import type { ActAnswerDto } from './admin-accounts.dto.js';

/** Refusal codes that end live connections, by act. */
const CLOSES: Readonly<Partial<Record<AdminAct, AccessChange['closes']>>> = {
  'account-disabled': 'account-disabled',
  'all-tokens-revoked': 'token-revoked',
  'account-deleted': 'token-revoked',
};

/** Acts of administrators on accounts: stored first, then announced to every replica. */
@Injectable()
export class AdminActsService {
  constructor(
    private readonly accounts: AccountAdminRepository,
    private readonly sessions: SessionEndRepository,
    private readonly events: IdentityEvents,
    private readonly audit: AuditService,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
  ) {}

  /** @throws AppError `not-found` */
  async act(act: AdminAct, accountId: string, origin: ActOrigin): Promise<ActAnswerDto> {
    if (act === 'recheck-requested' && !this.auth.offboarding.enabled) {
      orRefuse(await this.accounts.find(accountId), 'not-found');
      return { success: true, changed: false };
    }
    const now = new Date(this.clock.now());
    // A trigger on the account adds the events for backends (storage/migrations).
    const { outcome, events } = await this.accounts.act(act, accountId, origin, now);
    if (outcome === 'not-found') {
      throw new AppError('not-found');
    }
    // Announced even if nothing changed, because the first announcement may have been lost.
    if (act === 'recheck-requested') {
      this.events.emit('identities-due');
    } else {
      const closes = CLOSES[act];
      this.events.announceAccessChange({ accountId, ...(closes !== undefined && { closes }) });
    }
    events.forEach((event) => this.audit.log(event));
    return { success: true, changed: outcome === 'done' };
  }

  /** @throws AppError `not-found` for a session that has ended, or of another account */
  async endSession(accountId: string, sessionId: string, by: ActOrigin): Promise<ActAnswerDto> {
    const now = new Date(this.clock.now());
    const { isEnded, events, seq } = await this.sessions.end(accountId, sessionId, by, now);
    if (seq !== null) {
      this.events.emit('push-tokens-changed', accountId, seq);
    }
    events.forEach((event) => this.audit.log(event));
    if (!isEnded) {
      throw new AppError('not-found');
    }
    this.events.announceAccessChange({ accountId, sessionId, closes: 'token-revoked' });
    return { success: true, changed: true };
  }
}
