import { Inject, Injectable } from '@nestjs/common';
import { AuthService } from '../auth/auth.service.js';
import { bearerTokenFrom } from '../auth/bearer-token.js';
import { AppError } from '../common/errors.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { judgeClientScope } from '../policy/client-type.js';
import { Admission } from './admission.js';
import { ConnectionLimits } from './connection-limits.js';
import { LiveConnections, RETRY_AFTER_DRAIN_SECONDS } from './live-connections.js';
import type { UpdatesSocket } from './updates.events.js';

/** Authenticates a connection that {@link Admission} has let in. */
@Injectable()
export class Handshake {
  constructor(
    private readonly auth: AuthService,
    private readonly admission: Admission,
    private readonly limits: ConnectionLimits,
    private readonly connections: LiveConnections,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws AppError whatever an authenticated route would answer, and `invalid-request` */
  async admit(socket: UpdatesSocket): Promise<void> {
    this.refuseWhileDraining();
    const access = await this.auth.authenticate(tokenOf(socket));
    if (access.providerRefusal !== null) {
      throw access.providerRefusal;
    }
    const scope = judgeClientScope(socket.handshake.auth);
    if (!scope.isValid) {
      const { path, message } = scope;
      throw new AppError('invalid-request', { details: [{ path, message }] });
    }
    const { maxConnectionsPerAccount } = this.settings.updates;
    if (this.connections.countOf(access.accountId) >= maxConnectionsPerAccount) {
      throw new AppError('rate-limited', { retryAfterSeconds: 10 });
    }
    // Many may have been admitted since the last of them authenticated.
    this.admission.requireRoom();
    socket.data = { access, scope: scope.scope, judgedAt: 0, toldSeq: 0, storedSeq: 0 };
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

function tokenOf(socket: UpdatesSocket): string | undefined {
  const token: unknown = socket.handshake.auth['token'];
  return typeof token === 'string'
    ? token
    : bearerTokenFrom(socket.handshake.headers.authorization);
}
