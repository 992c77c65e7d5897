import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import {
  isLogoutNotifier,
  MAX_LOGOUT_TOKEN_AGE_SECONDS,
} from '../../providers/oidc-logout-token.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { IdentityDueRepository } from '../../storage/identity-due.repository.js';
import { LogoutTokenRepository } from '../../storage/logout-token.repository.js';
import { DueIdentities } from '../due-identities.js';

const MAX_TOKEN_LENGTH = 16_384;
/** A used token is remembered for longer than it could pass again, clocks that differ included. */
const REMEMBERED_MS = 2 * MAX_LOGOUT_TOKEN_AGE_SECONDS * 1000;

/**
 * Takes a provider's word that somebody may have left. It decides nothing: the identity becomes due
 * and is re-checked at once, so that a forged or mistaken signal costs one question.
 */
@Injectable()
export class PushSignalsService {
  private readonly logger = new Logger('PushSignals');

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly identities: IdentityDueRepository,
    private readonly tokens: LogoutTokenRepository,
    private readonly due: DueIdentities,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws AppError `not-found` where nothing is re-checked, `invalid-request`, `unavailable` */
  async logOut(providerId: string, form: string): Promise<void> {
    const provider = this.providers.get(providerId);
    if (!this.isOn || provider === undefined || !isLogoutNotifier(provider)) {
      throw new AppError('not-found');
    }
    const [token = '', ...more] = new URLSearchParams(form).getAll('logout_token');
    if (token === '' || more.length > 0 || token.length > MAX_TOKEN_LENGTH) {
      throw new AppError('invalid-request');
    }
    const notice = await provider.verifyLogoutToken(token).catch((cause: unknown) => {
      this.logger.warn({
        msg: 'logout token refused',
        provider: providerId,
        cause: wordsOf(cause),
      });
      throw new AppError('invalid-request');
    });
    const expiresAt = new Date(this.clock.now() + REMEMBERED_MS);
    const made = await this.tokens.use(providerId, notice, expiresAt);
    if (made === null) {
      throw new AppError('invalid-request');
    }
    this.announce(providerId, made);
  }

  /** Whether signals have an effect: without re-checks there is nothing to bring forward. */
  get isOn(): boolean {
    return this.settings.auth.offboarding.enabled;
  }

  async makeDue(provider: string, subject: string): Promise<void> {
    this.announce(provider, await this.identities.makeDue(provider, subject));
  }

  private announce(provider: string, made: number): void {
    this.logger.log({ msg: 'push signal', provider, identities: made });
    if (made > 0) {
      this.due.announce();
    }
  }
}

function wordsOf(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : 'unknown';
}
