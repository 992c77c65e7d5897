import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../../common/clock.js';
import { AppError, invalidRequest } from '../../common/errors.js';
import { oauthReturnConfig } from '../../config/browser.config.js';
import { Admission } from '../../auth/admission.js';
import type { AuthMode } from '../../policy/admission/admission.js';
import { returnAddressFor } from '../../policy/flow/return-address.js';
import { ProviderError, type IdentityProvider } from '../../providers/identity-provider.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { AccountRepository } from '../../storage/repositories/account.repository.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import { randomSecret } from '../../common/random-secret.js';
import { LIFETIME_MS, type FlowContents, type FlowOwner } from './pending-logins.js';

type Purpose = Pick<FlowContents, 'mode' | 'holder' | 'loopbackPort'>;

/** Begins logins and links: creates the address to open, and stores the flow behind its `state`. */
@Injectable()
export class ProviderStartService {
  constructor(
    private readonly providers: ProviderRegistry,
    private readonly flows: ExternalFlowRepository,
    private readonly accounts: AccountRepository,
    private readonly clock: Clock,
    private readonly admission: Admission,
    @Inject(oauthReturnConfig.KEY)
    private readonly oauthReturn: ConfigType<typeof oauthReturnConfig>,
  ) {}

  /**
   * @throws AppError `unsupported-provider`, `key-challenge-disabled`, `keyless-disabled`,
   *   `e2ee-required` and what {@link start} throws
   */
  async startLogin(
    provider: string,
    mode: AuthMode,
    owner: FlowOwner,
    loopbackPort: number | null,
  ): Promise<URL> {
    const known = this.known(provider);
    requireProviderLogin(this.admission, provider, mode);
    return this.start(known, { mode, holder: owner, loopbackPort });
  }

  /**
   * @throws AppError `unsupported-provider`, `token-revoked`, `keyless-disabled`, `e2ee-required` and
   *   what {@link start} throws
   */
  async startConnect(
    provider: string,
    accountId: string,
    loopbackPort: number | null,
  ): Promise<URL> {
    const known = this.known(provider);
    const account = await this.accounts.profile(accountId);
    this.admission.require(provider, 'connect', account.keyMode);
    const holder: FlowOwner = { accountId, proofHash: null, publicKey: null };
    return this.start(known, { mode: account.keyMode, holder, loopbackPort });
  }

  /**
   * @throws AppError `oauth-not-configured`, `unavailable`, and `invalid-request` for a loopback port
   *   where the operator disabled it
   */
  private async start(provider: IdentityProvider, purpose: Purpose): Promise<URL> {
    const { id } = provider;
    if (purpose.loopbackPort !== null && !this.oauthReturn.loopbackEnabled) {
      throw invalidRequest(
        'loopbackPort',
        'This server does not return to programs on a computer.',
      );
    }
    const redirectUri = this.providers.redirectUri(id);
    if (redirectUri === null || returnAddressFor(this.oauthReturn, id) === null) {
      throw new AppError('oauth-not-configured', { provider: id });
    }
    const kept = { redirectUri, nonce: randomSecret(), codeVerifier: randomSecret() };
    const state = randomSecret();
    const url = await provider.authorizationUrl({ ...kept, state }).catch((error: unknown) => {
      throw error instanceof ProviderError
        ? new AppError('unavailable', { provider: id }, { cause: error.cause ?? error })
        : error;
    });
    const contents: FlowContents = { provider: id, ...purpose, ...kept };
    const expiresAt = new Date(this.clock.now() + LIFETIME_MS);
    await this.flows.add('external-flow', state, contents, expiresAt);
    return url;
  }

  private known(id: string): IdentityProvider {
    const provider = this.providers.get(id);
    if (provider === undefined) {
      throw new AppError('unsupported-provider');
    }
    return provider;
  }
}

/**
 * Whether a login may begin, and go on when it comes back. A keyed one may end at an account that
 * exists, to which the identity is linked, whatever the sign-up policy says.
 *
 * @throws AppError `key-challenge-disabled`, `keyless-disabled`, `e2ee-required`
 */
export function requireProviderLogin(admission: Admission, provider: string, mode: AuthMode): void {
  admission.require(mode === 'keyed' ? 'key_challenge' : provider, 'login', mode);
}
