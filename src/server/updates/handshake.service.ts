import { Injectable } from '@nestjs/common';
import { AuthService } from '../auth/auth.service.js';
import { bearerTokenFrom } from '../auth/authentication.guard.js';
import { AppError, invalidRequest } from '../../common/errors.js';
import { ConnectionLimitsService } from './connection-limits.service.js';
import { HandshakeQueueService } from './handshake-queue.service.js';
import { LiveConnectionsService, RETRY_AFTER_DRAIN_SECONDS } from './live-connections.service.js';
import type { UpdatesSocket } from './updates.events.js';

/** Authenticates a connection that the policy has accepted. */
@Injectable()
export class HandshakeService {
  constructor(
    private readonly auth: AuthService,
    private readonly queue: HandshakeQueueService,
    private readonly limits: ConnectionLimitsService,
    private readonly connections: LiveConnectionsService,
  ) {}

  /** @throws AppError any refusal of an authenticated route, and `invalid-request` */
  async authenticate(socket: UpdatesSocket): Promise<void> {
    this.refuseWhileDraining();
    const token = tokenOf(socket);
    const access = await this.queue.ask(() => this.auth.authenticate(token));
    if (access.providerRefusal !== null) {
      throw access.providerRefusal;
    }
    requireScope(socket.handshake.auth);
    this.connections.join(socket, access);
    this.limits.authenticated(socket);
  }

  /**
   * Authenticates again after the registration, which a revocation before it would have missed.
   * @throws AppError as {@link authenticate}
   */
  async confirm(socket: UpdatesSocket): Promise<void> {
    const access = await this.auth.authenticate(takeToken(socket));
    this.refuseWhileDraining();
    if (access.providerRefusal !== null) {
      throw access.providerRefusal;
    }
    socket.data.access = access;
  }

  private refuseWhileDraining(): void {
    if (this.connections.isDraining) {
      throw new AppError('unavailable', { retryAfterSeconds: RETRY_AFTER_DRAIN_SECONDS });
    }
  }
}

/** The id that a client of each type sends at the handshake (contract, Updates). */
const SCOPE_ID: Readonly<Record<string, string | null>> = {
  'user-scoped': null,
  'session-scoped': 'sessionId',
  'machine-scoped': 'machineId',
};
const MAX_SCOPE_ID_LENGTH = 256;

function requireScope(auth: Readonly<Record<string, unknown>>): void {
  const { clientType = 'user-scoped' } = auth;
  if (typeof clientType !== 'string' || !Object.hasOwn(SCOPE_ID, clientType)) {
    const message = 'clientType must be user-scoped, session-scoped or machine-scoped';
    throw invalidRequest('clientType', message);
  }
  const name = SCOPE_ID[clientType] ?? null;
  const id = auth[name ?? ''];
  if (name !== null && !(typeof id === 'string' && id !== '' && id.length <= MAX_SCOPE_ID_LENGTH)) {
    throw invalidRequest(name, `${clientType} needs ${name}`);
  }
}

/** The cluster adapter sends whole handshakes to replicas, and so to every writer to Redis. */
function takeToken(socket: UpdatesSocket): string | undefined {
  const token = tokenOf(socket);
  const { auth, headers } = socket.handshake;
  delete auth['token'];
  delete headers.authorization;
  return token;
}

function tokenOf(socket: UpdatesSocket): string | undefined {
  const token: unknown = socket.handshake.auth['token'];
  return typeof token === 'string'
    ? token
    : bearerTokenFrom(socket.handshake.headers.authorization);
}
