import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { AuthService } from '../auth/auth.service.js';
import { bearerTokenFrom } from '../auth/authentication.guard.js';
import { ClientAddressService } from '../auth/client-address.service.js';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { AppError, invalidRequest } from '../../common/errors.js';
import { ConnectionLimitsService } from './connection-limits.service.js';
import { HandshakeQueueService } from './handshake-queue.service.js';
import { LiveConnectionsService, RETRY_AFTER_DRAIN_SECONDS } from './live-connections.service.js';
import type { UpdatesSocket } from './updates.events.js';

/** Judges a connection at its HTTP request, at its CONNECT packet, and once it receives updates. */
@Injectable()
export class HandshakeService {
  constructor(
    private readonly auth: AuthService,
    private readonly queue: HandshakeQueueService,
    private readonly limits: ConnectionLimitsService,
    private readonly connections: LiveConnectionsService,
    private readonly rates: RateLimitService,
    private readonly addresses: ClientAddressService,
  ) {}

  /** The refusal of an HTTP request that arrives now; null when it may enter. Counts for no limit. */
  refusalNow(): AppError | null {
    return this.queue.refusalNow();
  }

  /** Admits an HTTP request. @throws AppError `unavailable`, `rate-limited` */
  async admit(request: IncomingMessage): Promise<void> {
    this.connections.requireCapacity();
    await this.rates.count('handshakePerIp', this.addresses.of(request));
    await this.queue.turn();
  }

  /**
   * Authenticates a CONNECT packet, and registers its connection.
   * @throws AppError any refusal of an authenticated route, and `invalid-request`
   */
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
   * Authenticates again after the registration, which a revocation before it would have missed. Sends
   * `hello`, or closes the connection.
   */
  async welcome(socket: UpdatesSocket): Promise<void> {
    try {
      const access = await this.auth.authenticate(takeToken(socket));
      this.refuseWhileDraining();
      if (access.providerRefusal !== null) {
        throw access.providerRefusal;
      }
      socket.data.access = access;
      await this.connections.welcome(socket);
    } catch (error) {
      this.connections.close(socket, this.queue.refusalFor(error));
    }
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
