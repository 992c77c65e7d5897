import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { AppError, orRefuse } from '../../../common/errors.js';
import { QuietLog } from '../../../common/quiet-log.js';
import { IdentityChangesService } from '../../identities/identity-changes.service.js';
import {
  MAX_LOGOUT_TOKEN_AGE_SECONDS,
  type LogoutNotice,
  type LogoutNotifier,
} from '../../providers/identity-provider.js';
import { unavailableBecause, upstreamErrorIn } from '../../providers/http/upstream-http.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import { ProviderLogoutRepository } from '../../storage/repositories/signals/provider-logout.repository.js';
import { ProviderSignalRepository } from '../../storage/repositories/signals/provider-signal.repository.js';
import { RecheckSignalsService } from './recheck-signals.service.js';

const MAX_TOKEN_LENGTH = 16_384;
/**
 * Used tokens are stored for longer than they could be accepted again, including clock differences.
 */
const REMEMBERED_MS = 2 * MAX_LOGOUT_TOKEN_AGE_SECONDS * 1000;

/**
 * Receives a provider's signal that a session ended (OpenID Connect Back-Channel Logout 1.0). A named
 * session also ends here. A signal decides nothing about the user: the identity becomes due and is
 * re-checked at once, so that a forged or mistaken signal costs one re-check.
 */
@Injectable()
export class BackchannelLogoutService {
  private readonly logger = new Logger('ProviderSignals');
  private readonly refusals: QuietLog;

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly logouts: ProviderLogoutRepository,
    private readonly received: ProviderSignalRepository,
    private readonly signals: RecheckSignalsService,
    private readonly changes: IdentityChangesService,
    private readonly clock: Clock,
  ) {
    this.refusals = new QuietLog(clock);
  }

  /**
   * @throws AppError `not-found` for a provider that sends no logout tokens, `invalid-request`: also for
   *   a token that names no session where nothing is re-checked, `unavailable`
   */
  async logOut(providerId: string, form: string): Promise<void> {
    const provider = orRefuse(this.providers.logoutNotifier(providerId), 'not-found');
    const [token = '', ...more] = new URLSearchParams(form).getAll('logout_token');
    if (token === '' || more.length > 0 || token.length > MAX_TOKEN_LENGTH) {
      throw new AppError('invalid-request');
    }
    const notice = await this.verify(provider, providerId, token);
    if (notice.providerSession === null && !this.signals.isOn) {
      throw this.refuse(providerId, 'it names no session, and identities are not re-checked');
    }
    const now = this.clock.now();
    const expiresAt = new Date(now + REMEMBERED_MS);
    const made = await this.logouts.logOut(providerId, notice, expiresAt, new Date(now));
    if (made === null) {
      throw this.refuse(providerId, 'it was used before');
    }
    this.changes.announceEnds(made.ended);
    this.signals.announce(providerId, made.due);
    await this.received.note({
      provider: providerId,
      kind: 'backchannel-logout',
      receivedAt: new Date(now),
    });
  }

  private async verify(provider: LogoutNotifier, id: string, token: string): Promise<LogoutNotice> {
    try {
      return await provider.verifyLogoutToken(token);
    } catch (error) {
      const upstream = upstreamErrorIn(error);
      if (upstream === undefined) {
        throw this.refuse(id, String(error));
      }
      const cause = upstream.message;
      this.logger.warn({ msg: 'keys of logout tokens not read', provider: id, cause });
      throw unavailableBecause(upstream);
    }
  }

  private refuse(provider: string, cause: string): AppError {
    this.refusals.write(provider, (others) =>
      this.logger.warn({ msg: 'logout token refused', provider, cause, others }),
    );
    return new AppError('invalid-request');
  }
}
