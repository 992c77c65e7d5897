import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import type { ErrorCode } from '../common/errors.js';

/** A stored change of an account that decides which of its sessions are admitted. */
export interface AccessChange {
  readonly accountId: string;
  /** Only this session is concerned; all of the account's when absent. */
  readonly sessionId?: string;
  /** Live connections concerned are closed for this reason; absent = they stay. */
  readonly closes?: ErrorCode;
  /** The provider that `closes` is about. */
  readonly provider?: string;
  /** Live connections concerned are judged against storage now, not at their next turn. */
  readonly judgesConnections?: boolean;
}

interface IdentityEventMap {
  /** Emitted on every replica, wherever the change was made: drop what it makes stale. */
  'access-changed': [change: AccessChange];
  /** Emitted on the replica that made the change: forward it to the others. */
  'access-change-announced': [change: AccessChange];
  /** Changes of unknown accounts were not received: whatever is kept may be stale. */
  'access-changes-missed': [];
  /** Messages of this replica about changes were dropped: the others have missed them. */
  'access-changes-dropped': [];
  /** The account's clients get an update; `seq` was taken in the transaction of the change. */
  'identities-changed': [accountId: string, seq: number];
  /** Some identities are due for a re-check before their time. */
  'identities-due': [];
}

/** The events about accounts and their identities, by which modules learn of each other's changes. */
@Injectable()
export class IdentityEvents extends EventEmitter<IdentityEventMap> {
  /** Applies an access change here and on every other replica. Call it after the change is stored. */
  announceAccessChange(change: AccessChange): void {
    this.emit('access-changed', change);
    this.emit('access-change-announced', change);
  }
}
