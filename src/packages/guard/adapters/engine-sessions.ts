import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { parseJson } from '../../../common/parse-json.js';
import type { Timer } from '../../../common/runtime/timers.js';
import type { Access } from '../access.js';
import type { AccessGate } from '../access-gate.js';
import type { GuardRuntime } from '../guard-options.js';
import type { EndReason } from '../held-connections.js';
import type { EngineTarget } from './engine-target.js';

/** The first packet of an engine session, in the third and the fourth revision of the protocol. */
const OPEN_PACKET = /^(?:\d+:)?0(\{[^}]*\})/;

/** An engine session, as its first packet describes it. Times are in milliseconds. */
interface OpenPacket {
  readonly sid: string;
  readonly pingInterval: number;
  readonly pingTimeout: number;
}

type End = (reason: EndReason) => void;

/** The requests and sockets of one engine session, which have the access of its handshake. */
export class EngineSession {
  /** Functions that end the parts. */
  private readonly open = new Set<End>();
  private readonly release: () => void;
  private readonly tokenDigest: string;
  private silence: Timer | null = null;
  /** The engine ends a session that is silent for longer. 0 until its id is known. */
  private silenceMs = 0;
  private onOver = (): void => undefined;
  isOver = false;

  constructor(
    private readonly guard: AccessGate,
    private readonly runtime: GuardRuntime,
    readonly access: Access,
    token: string,
  ) {
    this.tokenDigest = digestOf(token);
    this.release = guard.hold(access, (reason) => {
      this.finish();
      endEach([...this.open], reason);
    });
  }

  /**
   * Ends a request or socket with the session. It must not be closed yet.
   *
   * @param onceClosed calls the listener once, when it closes
   * @throws AccessRefused if the session is over, also since the request was admitted
   */
  add(onceClosed: (listener: () => void) => void, end: End): void {
    if (this.isOver) {
      throw this.guard.refusal('invalid-request', 'its Socket.IO connection is over');
    }
    this.silence?.cancel();
    this.open.add(end);
    onceClosed(() => {
      this.open.delete(end);
      if (this.open.size === 0 && !this.isOver) {
        this.waitForParts();
      }
    });
  }

  /** Keeps the session between its requests, until the engine has ended it. */
  keep({ pingInterval, pingTimeout }: OpenPacket, onOver: () => void): void {
    // The engine counts from a moment before the end of the request.
    this.silenceMs = pingInterval + 2 * pingTimeout;
    this.onOver = onOver;
  }

  /** True for the token of the handshake after its end: polls carry it on. */
  isOutlived(token: string): boolean {
    const hasExpired = this.access.expiresAt.getTime() <= this.runtime.clock.now();
    return hasExpired && digestOf(token) === this.tokenDigest;
  }

  private waitForParts(): void {
    if (this.silenceMs === 0) {
      this.finish();
    } else {
      this.silence = this.runtime.timers.after(this.silenceMs, () => this.finish());
    }
  }

  private finish(): void {
    this.isOver = true;
    this.silence?.cancel();
    this.release();
    this.onOver();
  }
}

/** A part that cannot be ended keeps no other open. */
function endEach([end, ...others]: readonly End[], reason: EndReason): void {
  try {
    end?.(reason);
  } finally {
    if (others.length > 0) {
      endEach(others, reason);
    }
  }
}

/** Engine sessions that began with a request. One that began with a WebSocket has no other part. */
export class EngineSessions {
  private readonly sessions = new Map<string, EngineSession>();

  /** Returns the session of a request, unless it is over or not known. */
  find(target: EngineTarget): EngineSession | undefined {
    return this.sessions.get(keyOf(target.path, target.sid));
  }

  /** Finds the id of a new session in the response to its handshake. */
  begin(session: EngineSession, { path }: EngineTarget, response: ServerResponse): void {
    const end = response.end.bind(response) as (...values: unknown[]) => ServerResponse;
    response.end = (...values: unknown[]) => {
      const packet = openPacketIn(response, values[0]);
      const key = keyOf(path, packet?.sid ?? null);
      // The first session of an id keeps it, should the application issue it again.
      if (packet !== null && !session.isOver && !this.sessions.has(key)) {
        this.sessions.set(key, session);
        session.keep(packet, () => this.sessions.delete(key));
      }
      return end(...values);
    };
  }
}

function keyOf(path: string, sid: string | null): string {
  return JSON.stringify([path, sid]);
}

function openPacketIn({ statusCode }: ServerResponse, body: unknown): OpenPacket | null {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : body;
  if (statusCode !== 200 || typeof text !== 'string') {
    return null;
  }
  const packet = parseJson(OPEN_PACKET.exec(text)?.[1] ?? '') as Partial<OpenPacket> | undefined;
  const isWhole =
    typeof packet?.sid === 'string' &&
    Number.isFinite(packet.pingInterval) &&
    Number.isFinite(packet.pingTimeout);
  return isWhole ? (packet as OpenPacket) : null;
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
