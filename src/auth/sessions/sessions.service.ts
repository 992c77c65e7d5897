import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { SessionRepository } from '../../storage/session.repository.js';
import { AccessChanges } from '../access-changes.js';
import type { Access } from '../auth.service.js';
import type { SessionDto } from './sessions.dto.js';

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The sessions of an account, in its own hands. Stored first, then announced to every replica. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly changes: AccessChanges,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Newest first. */
  async list({ accountId, sessionId }: Access): Promise<SessionDto[]> {
    const sessions = await this.sessions.list(accountId, new Date(this.clock.now()));
    return sessions.map(({ clientName, clientPlatform, ...session }) => ({
      ...session,
      client: { name: clientName, platform: clientPlatform },
      current: session.id === sessionId,
    }));
  }

  /** Ends one session of the account, known or not. */
  async end(accountId: string, sessionId: string): Promise<void> {
    if (!SESSION_ID.test(sessionId)) {
      return;
    }
    const isEnded = await this.sessions.end(accountId, sessionId, new Date(this.clock.now()));
    this.changes.announce({ accountId, sessionId, closes: 'token-revoked' });
    if (isEnded) {
      this.audit.tell({ kind: 'token-revoked', actor: 'user', accountId, sessionId });
    }
  }

  async endAll(accountId: string): Promise<void> {
    await this.sessions.endAll(accountId, new Date(this.clock.now()));
    this.changes.announce({ accountId, closes: 'token-revoked' });
    this.audit.tell({ kind: 'all-tokens-revoked', actor: 'user', accountId });
  }
}
