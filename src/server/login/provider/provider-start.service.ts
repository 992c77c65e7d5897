import { Inject, Injectable } from '@nestjs/common';
import { AppError, invalidRequest, orRefuse } from '../../../common/errors.js';
import { Random } from '../../../common/runtime/random.js';
import { oauthReturnConfig, type OAuthReturnSettings } from '../../config/browser.config.js';
import { AdmissionService } from '../../auth/admission.service.js';
import type { AuthMode } from '../../../core/policy/admission/admission.js';
import { returnAddressFor } from '../../../core/policy/flow/return-address.js';
import { ProviderError, type IdentityProvider } from '../../providers/identity-provider.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import { AccountRepository } from '../../storage/repositories/account.repository.js';
import {
  PendingLoginsService,
  type FlowContents,
  type FlowOwner,
} from './pending-logins.service.js';

type Purpose = Pick<FlowContents, 'mode' | 'holder' | 'loopbackPort'>;

@Injectable()
export class ProviderStartService {
  constructor(
    private readonly providers: ProviderRegistry,
    private readonly pendings: PendingLoginsService,
    private readonly accounts: AccountRepository,
    private readonly random: Random,
    private readonly admission: AdmissionService,
    @Inject(oauthReturnConfig.KEY) private readonly oauthReturn: OAuthReturnSettings,
  ) {}

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
    const kept = { redirectUri, nonce: this.random.secret(), codeVerifier: this.random.secret() };
    const state = this.random.secret();
    const url = await provider.authorizationUrl({ ...kept, state }).catch((error: unknown) => {
      throw error instanceof ProviderError
        ? new AppError('unavailable', { provider: id }, { cause: error.cause ?? error })
        : error;
    });
    const contents: FlowContents = { provider: id, ...purpose, ...kept };
    await this.pendings.addFlow(state, contents);
    return url;
  }

  private known(id: string): IdentityProvider {
    return orRefuse(this.providers.get(id), 'unsupported-provider');
  }
}

/** A keyed login may end at an account that has the identity, whatever the sign-up policy says. */
export function requireProviderLogin(
  admission: AdmissionService,
  provider: string,
  mode: AuthMode,
): void {
  admission.require(mode === 'keyed' ? 'key_challenge' : provider, 'login', mode);
}
