import type { Timer } from '../../common/runtime/timers.js';
import type { Access } from './access.js';
import type { GuardLogEntry, GuardRuntime } from './guard-options.js';

/** The reason why a held connection must be closed. */
export type EndReason =
  | 'session-revoked'
  | 'session-expired'
  | 'token-expired'
  | 'guard-lease-expired'
  | 'guard-gap'
  | 'guard-closed';

/** Ends of many connections are spread over so long, so that their clients do not return at once. */
const SPREAD_MS = 10_000;

/** The reason of a spread end that can be taken back: no signal was lost. */
const RENEWABLE: EndReason = 'guard-lease-expired';

interface Held {
  readonly access: Access;
  readonly onEnd: (reason: EndReason) => void;
  /** False for a connection that is ended as soon as it was added. */
  readonly isLive: boolean;
  /** Set while a spread end waits. */
  closing: { readonly timer: Timer; readonly reason: EndReason } | null;
}

/** A connection that was added. */
export interface Handle {
  /** Forgets the connection: its `onEnd` is not called afterwards. */
  release(): void;
  end(reason: EndReason): void;
}

/** Connections that live as long as their sessions. */
export class HeldConnections {
  private readonly bySid = new Map<string, Set<Held>>();

  constructor(
    private readonly runtime: GuardRuntime,
    private readonly closeOnTokenExpiry: boolean,
    private readonly log: (entry: GuardLogEntry) => void,
  ) {}

  add(access: Access, onEnd: Held['onEnd'], isLive = true): Handle {
    const held: Held = { access, onEnd, isLive, closing: null };
    const others = this.bySid.get(access.sid);
    if (others === undefined) {
      this.bySid.set(access.sid, new Set([held]));
    } else {
      others.add(held);
    }
    return {
      release: () => void this.remove(held),
      end: (reason) => this.end(held, reason),
    };
  }

  /**
   * True for a session that goes on, whatever the age of its tokens: its end would have ended a connection
   * that is held.
   */
  isLive(sid: string): boolean {
    const connections = this.closeOnTokenExpiry ? [] : [...(this.bySid.get(sid) ?? [])];
    return connections.some(({ isLive, closing }) => isLive && closing === null);
  }

  /** Ends the connections of a session. */
  endSession(sid: string, reason: EndReason): void {
    for (const held of this.bySid.get(sid) ?? []) {
      this.end(held, reason);
    }
  }

  /**
   * Ends every connection, spread in time. A connection that waits already ends as planned: an expired
   * lease, which may be renewed, is not the reason then.
   */
  endAllSpread(reason: EndReason): void {
    const { random, timers } = this.runtime;
    for (const held of this.all()) {
      const { closing } = held;
      const end = (): void => this.end(held, held.closing?.reason ?? reason);
      held.closing = {
        timer: closing?.timer ?? timers.after(random.fraction() * SPREAD_MS, end),
        reason: closing === null || reason !== RENEWABLE ? reason : closing.reason,
      };
    }
  }

  /** Keeps the connections that wait for their end only because the lease has expired. */
  keepRenewable(): void {
    for (const held of this.all()) {
      if (held.closing?.reason === RENEWABLE) {
        held.closing.timer.cancel();
        held.closing = null;
      }
    }
  }

  endAll(reason: EndReason): void {
    for (const held of this.all()) {
      this.end(held, reason);
    }
  }

  /** Ends connections whose session, or token, has expired. */
  endExpired(): void {
    const now = this.runtime.clock.now();
    for (const held of this.all()) {
      const { sessionExpiresAt, expiresAt } = held.access;
      if (sessionExpiresAt.getTime() <= now) {
        this.end(held, 'session-expired');
      } else if (this.closeOnTokenExpiry && expiresAt.getTime() <= now) {
        this.end(held, 'token-expired');
      }
    }
  }

  get count(): number {
    return [...this.bySid.values()].reduce((sum, { size }) => sum + size, 0);
  }

  private *all(): Generator<Held> {
    for (const connections of this.bySid.values()) {
      yield* connections;
    }
  }

  private end(held: Held, reason: EndReason): void {
    if (!this.remove(held)) {
      return;
    }
    try {
      held.onEnd(reason);
    } catch (error) {
      const name = error instanceof Error ? error.name : 'unknown';
      this.log({ level: 'warn', message: 'a connection could not be closed', reason: name });
    }
  }

  /** @returns false if the connection was removed before */
  private remove(held: Held): boolean {
    held.closing?.timer.cancel();
    held.closing = null;
    const { sid } = held.access;
    const connections = this.bySid.get(sid);
    const isHeld = connections?.delete(held) === true;
    if (connections?.size === 0) {
      this.bySid.delete(sid);
    }
    return isHeld;
  }
}
