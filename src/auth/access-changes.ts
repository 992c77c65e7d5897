import { Injectable } from '@nestjs/common';
import type { ErrorCode } from '../common/errors.js';

/** Something about an account changed that decides who is let in. */
export interface AccessChange {
  readonly accountId: string;
  /** Only this session is concerned; all of the account's when absent. */
  readonly sessionId?: string;
  /** Live connections concerned are closed for this reason; absent = they stay. */
  readonly closes?: ErrorCode;
  /** The provider that `closes` is about. */
  readonly provider?: string;
}

type Listener = (change: AccessChange) => void;

/**
 * Carries access changes to whoever keeps something that they make stale: the access cache, live
 * connections and, through {@link onAnnounce}, the other replicas.
 */
@Injectable()
export class AccessChanges {
  private readonly listeners: Listener[] = [];
  private readonly forwarders: Listener[] = [];

  /** Calls `listener` on every change, wherever it was made. */
  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Calls `forwarder` on changes made by this process, to tell the other replicas. */
  onAnnounce(forwarder: Listener): void {
    this.forwarders.push(forwarder);
  }

  /** Call after the change is stored. */
  announce(change: AccessChange): void {
    this.receive(change);
    for (const forward of this.forwarders) {
      forward(change);
    }
  }

  /** Takes a change that another replica announced. */
  receive(change: AccessChange): void {
    for (const listen of this.listeners) {
      listen(change);
    }
  }
}
