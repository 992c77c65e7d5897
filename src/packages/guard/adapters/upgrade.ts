import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AccessRefused } from '../access-refused.js';
import type { AccessGate } from '../access-gate.js';
import type { GuardRuntime } from '../guard-options.js';
import { requiredScopes, type Requirement } from '../programs.js';
import { closeSocket, cut, isClosed, onceClosed, refuseUpgrade } from './closing.js';
import { bearerOf, setAccess, upgradeTokenOf } from './credentials.js';
import { EngineSession, EngineSessions } from './engine-sessions.js';
import { engineTargetOf, type EngineTarget } from './engine-target.js';
import { admit, answerRefusal } from './express.js';

/** The part of an HTTP server that the guard uses. */
export interface UpgradingServer {
  emit(event: string, ...values: unknown[]): boolean;
}

/**
 * Verifies upgrades before any listener of the server gets them, also one that is added later. Socket.IO's
 * requests of long polling need no upgrade, and are verified too.
 *
 * @throws TypeError for a requirement whose scope is none
 */
export function guardUpgrades(
  guard: AccessGate,
  server: UpgradingServer,
  runtime: GuardRuntime,
  requirement: Requirement,
): void {
  requiredScopes(requirement);
  const emit = server.emit.bind(server);
  const admission = new Admission(guard, runtime, requirement);
  server.emit = (event, ...values) => {
    const [request, carrier] = values as [IncomingMessage, Duplex & ServerResponse];
    if (event === 'upgrade') {
      const ignore = (): void => undefined;
      // No listener of the server has the socket yet, and an error without one ends the process.
      carrier.on('error', ignore);
      settle(guard, admission.ofUpgrade(request, carrier), {
        admitted: () => {
          carrier.off('error', ignore);
          emit(event, ...values);
        },
        refused: (refusal) => refuseUpgrade(refusal, carrier),
      });
    } else if (event === 'request' && !admission.isOfApplication(request)) {
      settle(guard, admission.ofRequest(request, carrier), {
        admitted: () => void emit(event, ...values),
        refused: (refusal) => answerRefusal(refusal, carrier),
      });
    } else {
      return emit(event, ...values);
    }
    return true;
  };
}

interface Outcomes {
  admitted(): void;
  refused(refusal: AccessRefused): void;
}

/** An error of a listener of the server is not one of the admission. */
function settle(guard: AccessGate, admission: Promise<boolean>, outcomes: Outcomes): void {
  void admission.then(
    (isAdmitted) => (isAdmitted ? outcomes.admitted() : undefined),
    (error: unknown) =>
      outcomes.refused(error instanceof AccessRefused ? error : guard.refusal('unavailable')),
  );
}

/** Admits upgrades, and the requests of Socket.IO. */
class Admission {
  private readonly sessions = new EngineSessions();

  constructor(
    private readonly guard: AccessGate,
    private readonly runtime: GuardRuntime,
    private readonly requirement: Requirement,
  ) {}

  /** True for a request that is not of Socket.IO. */
  isOfApplication(request: IncomingMessage): boolean {
    try {
      // A preflight of a browser has no token, and Socket.IO answers it.
      return request.method === 'OPTIONS' || engineTargetOf(this.guard, request) === null;
    } catch {
      return false;
    }
  }

  /** @returns false if the client has disconnected @throws AccessRefused */
  async ofUpgrade(request: IncomingMessage, socket: Duplex): Promise<boolean> {
    const { guard, runtime } = this;
    const target = engineTargetOf(guard, request);
    const token = upgradeTokenOf(guard, request);
    const session = await this.sessionOf(target, token);
    const access = session?.access ?? (await guard.verify(token, this.requirement));
    if (socket.destroyed) {
      return false;
    }
    setAccess(guard, request, access);
    const end = (reason: string): void => closeSocket(socket, request, reason, runtime.timers);
    if (session === null) {
      socket.once('close', guard.hold(access, end));
    } else {
      session.add((onClose) => socket.once('close', onClose), end);
    }
    return true;
  }

  /** @returns false if the client has disconnected @throws AccessRefused */
  async ofRequest(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { guard, runtime } = this;
    const target = engineTargetOf(guard, request);
    const isHandshake = target?.transport === 'polling' && request.method === 'GET';
    if (target === null || (target.sid === null && !isHandshake)) {
      await admit(guard, request, response, runtime.timers, this.requirement);
      return true;
    }
    const token = bearerOf(guard, request);
    const known = await this.sessionOf(target, token);
    const access = known?.access ?? (await guard.verify(token, this.requirement));
    if (isClosed(request, response)) {
      return false;
    }
    setAccess(guard, request, access);
    const session = known ?? new EngineSession(guard, runtime, access, token);
    session.add(
      (onClose) => onceClosed(request, response, onClose),
      () => cut(request, response),
    );
    if (known === null) {
      // A compressed response could not be read.
      delete request.headers['accept-encoding'];
      this.sessions.begin(session, target, response);
    }
    return true;
  }

  /**
   * Returns the session that a request goes on with; null in its handshake.
   *
   * @throws AccessRefused for a token of another account or session than that of the handshake, and for
   *   one with fewer scopes: what it sends would be judged by those of the handshake
   */
  private async sessionOf(
    target: EngineTarget | null,
    token: string,
  ): Promise<EngineSession | null> {
    const { guard, sessions } = this;
    if (target === null || target.sid === null) {
      return null;
    }
    const session = sessions.find(target);
    if (session?.isOutlived(token) === true) {
      guard.requireReady();
      return session;
    }
    const { account, sid, scopes } = await guard.verify(token, this.requirement);
    if (session === undefined) {
      throw guard.refusal('invalid-request', 'its Socket.IO connection is not known');
    }
    const isNarrower = session.access.scopes.some((one) => !scopes.includes(one));
    if (account !== session.access.account || sid !== session.access.sid || isNarrower) {
      throw guard.refusal('invalid-token', 'its Socket.IO connection is that of another token');
    }
    return session;
  }
}
