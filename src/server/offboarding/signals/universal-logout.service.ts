import { Inject, Injectable, Logger } from '@nestjs/common';
import { AppError, invalidRequest, orRefuse } from '../../../common/errors.js';
import { QuietLog } from '../../../common/quiet-log.js';
import { Clock } from '../../../common/runtime/clock.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import { IdentityChangesService } from '../../identities/identity-changes.service.js';
import { issuersOf } from '../../../core/policy/eligibility/identity-link.js';
import { readSubject } from '../../../core/policy/eligibility/subject-identifier.js';
import { unavailableBecause, UpstreamError } from '../../providers/http/upstream-http.js';
import {
  ForeignSenderError,
  MAX_REVOCATION_TOKEN_SECONDS,
} from '../../providers/signals/revocation-tokens.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import { ProviderLogoutRepository } from '../../storage/repositories/signals/provider-logout.repository.js';
import { ProviderSignalRepository } from '../../storage/repositories/signals/provider-signal.repository.js';

const BEARER = /^bearer +([\w.-]{1,16384}) *$/i;
/** Used tokens are stored for longer than they could be accepted again, including clock differences. */
const REMEMBERED_MS = 2 * MAX_REVOCATION_TOKEN_SECONDS * 1000;

/**
 * Receives universal logout (draft-parecki-oauth-global-token-revocation): every session that the
 * identity admits ends, and the identity admits none before the next login at the provider.
 */
@Injectable()
export class UniversalLogoutService {
  private readonly logger = new Logger('ProviderSignals');
  private readonly refusals: QuietLog;

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly logouts: ProviderLogoutRepository,
    private readonly received: ProviderSignalRepository,
    private readonly changes: IdentityChangesService,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
  ) {
    this.refusals = new QuietLog(clock);
  }

  /**
   * @param authorization the header of that name
   * @param identifier `sub_id` of the body
   * @throws AppError `not-found`: also for an unknown person, `missing-token`, `invalid-token`: also for
   *   one that was used before, `insufficient-scope` for one of another sender, `invalid-request`,
   *   `sessions-remain`, `unavailable`
   */
  async signOut(
    provider: string,
    authorization: string | undefined,
    identifier: unknown,
  ): Promise<void> {
    const { tokenId, issuer } = await this.verify(provider, authorization);
    const authority = this.providers.authority(provider);
    const found = readSubject(identifier, authority === undefined ? [] : issuersOf(authority));
    const now = this.clock.now();
    const name = found === 'foreign' ? null : found;
    const isRequired = this.config.requiredLoginProviders.includes(provider);
    const signedOut = await this.logouts.signOut(
      provider,
      { tokenId, name, isRequired, origin: { issuer } },
      new Date(now + REMEMBERED_MS),
      new Date(now),
    );
    if (signedOut === null) {
      throw this.refuse(provider, 'its token was used before');
    }
    const { effects, hasSessions } = signedOut;
    for (const effect of effects) {
      this.changes.announceSignal(effect, provider, 'provider-required');
    }
    await this.received.note({
      provider,
      kind: 'global-token-revocation',
      receivedAt: new Date(now),
    });
    if (found === null) {
      throw invalidRequest('sub_id', 'must have the format email, iss_sub or opaque.');
    }
    if (effects.length === 0) {
      throw new AppError('not-found');
    }
    if (hasSessions) {
      throw new AppError('sessions-remain', { provider });
    }
  }

  private async verify(
    provider: string,
    authorization: string | undefined,
  ): Promise<{ readonly tokenId: string; readonly issuer: string }> {
    const tokens = orRefuse(this.providers.signalTokens(provider).revocations, 'not-found');
    const token = orRefuse(BEARER.exec(authorization ?? '')?.[1], 'missing-token');
    try {
      return { tokenId: await tokens.verify(token), issuer: tokens.settings.issuer };
    } catch (error) {
      if (error instanceof UpstreamError) {
        this.logger.warn({
          msg: 'keys of universal logout not read',
          provider,
          cause: error.message,
        });
        throw unavailableBecause(error);
      }
      if (error instanceof ForeignSenderError) {
        this.refuse(provider, error.message);
        throw new AppError('insufficient-scope');
      }
      throw this.refuse(provider, String(error));
    }
  }

  private refuse(provider: string, cause: string): AppError {
    this.refusals.write(provider, (others) =>
      this.logger.warn({ msg: 'universal logout refused', provider, cause, others }),
    );
    return new AppError('invalid-token');
  }
}
