import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuthService } from '../auth/auth.service.js';
import { bearerTokenFrom } from '../auth/authentication.guard.js';
import { ClientAddress, RateLimits } from '../auth/rate-limits.js';
import { AppError, invalidRequest } from '../common/errors.js';
import { httpConfig } from '../config/http.config.js';
import { updatesConfig } from '../config/updates.config.js';
import { ConnectionLimits } from './connection-limits.js';
import { HandshakeQueue } from './handshake-queue.js';
import { LiveConnections, RETRY_AFTER_DRAIN_SECONDS } from './live-connections.js';
import type { UpdatesSocket } from './updates.events.js';

const RETRY_WHEN_FULL_SECONDS = 10;

/** Decides on the HTTP request that opens a connection, before there is one. */
@Injectable()
export class ConnectionPolicy {
  constructor(
    private readonly limits: RateLimits,
    private readonly queue: HandshakeQueue,
    private readonly connections: LiveConnections,
    private readonly addresses: ClientAddress,
    @Inject(httpConfig.KEY) private readonly http: ConfigType<typeof httpConfig>,
    @Inject(updatesConfig.KEY) private readonly updates: ConfigType<typeof updatesConfig>,
  ) {}

  /** @throws AppError `origin-not-allowed`, `unavailable`, `rate-limited` */
  async admit(request: IncomingMessage): Promise<void> {
    this.requireOrigin(request);
    this.requireCapacity();
    await this.limits.count('handshakePerIp', this.addresses.of(request));
    await this.queue.turn();
  }

  /** @throws AppError `unavailable` when as many are authenticated as one process serves */
  requireCapacity(): void {
    if (this.connections.total >= this.updates.maxConnections) {
      throw new AppError('unavailable', { retryAfterSeconds: RETRY_WHEN_FULL_SECONDS });
    }
  }

  /** Browsers send the page's origin with a WebSocket and nothing else stops them (ASVS 4.4.2). */
  private requireOrigin({ headers: { origin } }: IncomingMessage): void {
    const { corsOrigins } = this.http;
    if (origin !== undefined && !corsOrigins.includes('*') && !corsOrigins.includes(origin)) {
      throw new AppError('origin-not-allowed');
    }
  }
}

/** Authenticates a connection that {@link ConnectionPolicy} has accepted. */
@Injectable()
export class Handshake {
  constructor(
    private readonly auth: AuthService,
    private readonly queue: HandshakeQueue,
    private readonly policy: ConnectionPolicy,
    private readonly limits: ConnectionLimits,
    private readonly connections: LiveConnections,
    @Inject(updatesConfig.KEY) private readonly config: ConfigType<typeof updatesConfig>,
  ) {}

  /** @throws AppError whatever an authenticated route would answer, and `invalid-request` */
  async admit(socket: UpdatesSocket): Promise<void> {
    this.refuseWhileDraining();
    const token = tokenOf(socket);
    const access = await this.queue.ask(() => this.auth.authenticate(token));
    if (access.providerRefusal !== null) {
      throw access.providerRefusal;
    }
    requireScope(socket.handshake.auth);
    const { maxConnectionsPerAccount } = this.config;
    if (this.connections.countOf(access.accountId) >= maxConnectionsPerAccount) {
      throw new AppError('rate-limited', { retryAfterSeconds: 10 });
    }
    // Many may have been admitted since the last of them authenticated.
    this.policy.requireCapacity();
    socket.data = { access, judgedAt: 0, sentSeq: 0, storedSeq: 0 };
    // Without a pause after the count: of many that come at once, none slips past the limit.
    this.connections.join(socket);
    this.limits.authenticated(socket);
  }

  /**
   * Asks again once the connection can be found and closed: a revocation that fell between the
   * two would have missed it.
   *
   * @throws AppError as {@link admit}
   */
  async confirm(socket: UpdatesSocket): Promise<void> {
    const access = await this.auth.authenticate(tokenOf(socket));
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

function tokenOf(socket: UpdatesSocket): string | undefined {
  const token: unknown = socket.handshake.auth['token'];
  return typeof token === 'string'
    ? token
    : bearerTokenFrom(socket.handshake.headers.authorization);
}
