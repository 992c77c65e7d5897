import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import type { ErrorCode } from '../../common/errors.js';
import type { AuditEvent } from '../../core/policy/audit-event.js';

/** A stored change of an account that affects the admission of its sessions. */
export interface AccessChange {
  readonly accountId: string;
  /** The only affected session; absent = all sessions of the account. */
  readonly sessionId?: string;
  /** Reason with which affected live connections are closed; absent = they stay. */
  readonly closes?: ErrorCode;
  readonly provider?: string;
  /** True if affected live connections are checked against storage at once. */
  readonly judgesConnections?: boolean;
}

/** A request of a program that was answered or closed. */
export interface RequestChange {
  readonly accountId: string;
  readonly requestId: string;
}

interface IdentityEventMap {
  /** Emitted on every replica: listeners drop stale data. */
  'access-changed': [change: AccessChange];
  /** Emitted on the replica of the change, which forwards it to the others. */
  'access-change-announced': [change: AccessChange];
  /** Changes of unknown accounts were lost: any cached data may be stale. */
  'access-changes-missed': [];
  /** Messages of this replica about changes were dropped, so the others have missed them. */
  'access-changes-dropped': [];
  /** Sends an update to the account's clients; `seq` was taken in the transaction of the change. */
  'identities-changed': [accountId: string, seq: number];
  /** A session ended with the push tokens that it had saved; as above. */
  'push-tokens-changed': [accountId: string, seq: number];
  /** A person granted a program access; as above. */
  'program-granted': [accountId: string, seq: number];
  /** The grant of a program ended by itself: the audit event, as it was stored. */
  'program-ended': [event: AuditEvent];
  /** Emitted on every replica: clients that wait for the request read it again. */
  'request-changed': [change: RequestChange];
  /** Emitted on the replica of the change, which forwards it to the others. */
  'request-change-announced': [change: RequestChange];
  /** Some identities are due for a re-check before their time. */
  'identities-due': [];
  /** The signing keys were rotated: those that this replica has may be revoked. */
  'signing-keys-rotated': [];
}

/** Events about accounts and their identities, to which other modules subscribe. */
@Injectable()
export class IdentityEvents extends EventEmitter<IdentityEventMap> {
  /** Applies an access change here and on every other replica. Call it after the change is stored. */
  announceAccessChange(change: AccessChange): void {
    this.emit('access-changed', change);
    this.emit('access-change-announced', change);
  }

  /** As {@link announceAccessChange}, for clients that wait for a request. */
  announceRequestChange(change: RequestChange): void {
    this.emit('request-changed', change);
    this.emit('request-change-announced', change);
  }

  /**
   * Applies an access change of another replica. It may arrive late, after a new login, so live
   * connections are checked against storage unless it names the session that ended.
   */
  receiveAccessChange(change: AccessChange): void {
    const { accountId, sessionId, closes } = change;
    const isExact = closes === undefined || sessionId !== undefined;
    this.emit('access-changed', isExact ? change : { accountId, judgesConnections: true });
  }
}
