import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { orRefuse } from '../../common/errors.js';
import { Clock } from '../../common/runtime/clock.js';
import type { AuditEvent } from '../../core/policy/audit-event.js';
import {
  ProgramGrantRepository,
  type AddedGrant,
  type GrantedTo,
  type GrantEndedBy,
} from '../storage/repositories/programs/program-grant.repository.js';

/** Ends grants and announces changes: stored first. A trigger reports each end to the backend. */
@Injectable()
export class GrantChangesService {
  constructor(
    private readonly grants: ProgramGrantRepository,
    private readonly events: IdentityEvents,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /** Announces a grant to all sessions of the account: a thief of one of them cannot hide it. */
  announceGrant(accountId: string, { event, ended, seq }: AddedGrant): void {
    this.audit.log(event);
    ended.forEach((one) => this.announce(accountId, one));
    this.events.emit('program-granted', accountId, seq);
  }

  /** @throws AppError `not-found` for a grant that has ended, or of another account */
  async end(accountId: string, id: string, by: GrantEndedBy): Promise<void> {
    const event = orRefuse(
      await this.grants.end(accountId, id, by, new Date(this.clock.now())),
      'not-found',
    );
    this.announce(accountId, event);
  }

  /**
   * Ends the grants that no configuration of a replica accepts any more.
   * @returns true if grants are left that are not accepted
   */
  async endUnaccepted(isAccepted: (grant: GrantedTo) => boolean): Promise<boolean> {
    const now = new Date(this.clock.now());
    const { ended, isLeft } = await this.grants.endUnaccepted(isAccepted, now);
    ended.forEach((event) => this.announce(event.accountId, event));
    return isLeft;
  }

  /** Deletes the grants whose time is over. Backends know that time, so none is reported to them. */
  async deleteExpired(): Promise<void> {
    const expired = await this.grants.deleteExpired(new Date(this.clock.now()));
    expired.forEach((event) => this.log(event));
  }

  /** @param event as it was stored; null = none */
  announce(accountId: string, event: AuditEvent | null): void {
    // Sessions of the account go on: only what was cached of it is dropped.
    this.events.announceAccessChange({ accountId });
    if (event !== null) {
      this.log(event);
    }
  }

  private log(event: AuditEvent): void {
    this.audit.log(event);
    this.events.emit('program-ended', event);
  }
}
