import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service.js';
import { Clock } from '../../../common/runtime/clock.js';
import { AppError } from '../../../common/errors.js';
import { readUuid } from '../../../common/uuid.js';
import { SessionEndRepository } from '../../storage/repositories/session-end.repository.js';
import { SessionRepository } from '../../storage/repositories/session.repository.js';
import { IdentityEvents } from '../identity.events.js';
import type { Access } from '../auth.service.js';
import type { SessionDto } from './sessions.dto.js';

/** Lists and ends the sessions of an account: stored first, then announced to every replica. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly ends: SessionEndRepository,
    private readonly events: IdentityEvents,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /** Returns the sessions, newest first. */
  async list({ accountId, sessionId }: Access): Promise<SessionDto[]> {
    const sessions = await this.sessions.list(accountId, new Date(this.clock.now()));
    return sessions.map(({ clientName, clientPlatform, ...session }) => ({
      ...session,
      client: { name: clientName, platform: clientPlatform },
      current: session.id === sessionId,
    }));
  }

  /** @param isSignOut true if the caller ends its own session */
  async end(accountId: string, id: string, isSignOut = false): Promise<void> {
    const sessionId = readUuid(id);
    if (sessionId === null) {
      return;
    }
    const now = new Date(this.clock.now());
    const by = { actor: 'user' } as const;
    const { events, seq } = await this.ends.end(accountId, sessionId, by, now, isSignOut);
    this.events.announceAccessChange({ accountId, sessionId, closes: 'token-revoked' });
    if (seq !== null) {
      this.events.emit('push-tokens-changed', accountId, seq);
    }
    events.forEach((event) => this.audit.log(event));
  }

  /** @throws AppError `not-found` */
  async rename(accountId: string, sessionId: string, name: string): Promise<void> {
    const now = new Date(this.clock.now());
    if (!(await this.sessions.rename(accountId, sessionId, name, now))) {
      throw new AppError('not-found');
    }
  }

  async endAll(accountId: string): Promise<void> {
    const events = await this.ends.endAll(accountId, new Date(this.clock.now()));
    this.events.announceAccessChange({ accountId, closes: 'token-revoked' });
    events.forEach((event) => this.audit.log(event));
  }
}
