import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import type { AuthMode } from '../../policy/auth-methods.js';
import { judgeExternalLogin } from '../../policy/external-flow.js';
import { ProviderError, type AuthorizationRequest } from '../../providers/identity-provider.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { AccountRepository } from '../../storage/account.repository.js';
import { ExternalFlowRepository } from '../../storage/external-flow.repository.js';
import {
  externalFlowFacts,
  LIFETIME_MS,
  type FlowContents,
  type Holder,
} from './external-contents.js';
import { returnAddressOf } from './return-location.js';

const SECRET_BYTES = 32;

type Purpose = Pick<FlowContents, 'mode' | 'holder' | 'loopbackPort'>;

/** Begins logins and links: makes the address to open, and remembers what it was made for. */
@Injectable()
export class ExternalStartService {
  constructor(
    private readonly providers: ProviderRegistry,
    private readonly flows: ExternalFlowRepository,
    private readonly accounts: AccountRepository,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws AppError `keyless-disabled`, `e2ee-required` and what {@link start} throws */
  async startLogin(
    provider: string,
    mode: AuthMode,
    holder: Holder,
    loopbackPort: number | null,
  ): Promise<URL> {
    this.checkKnown(provider);
    const decision = judgeExternalLogin(mode, externalFlowFacts(this.settings), provider);
    if (!decision.isAllowed) {
      throw new AppError(decision.code, { provider });
    }
    return this.start(provider, { mode, holder, loopbackPort });
  }

  /** @throws AppError `token-revoked` and what {@link start} throws */
  async startConnect(
    provider: string,
    accountId: string,
    loopbackPort: number | null,
  ): Promise<URL> {
    this.checkKnown(provider);
    const account = await this.accounts.profile(accountId);
    if (account === null) {
      throw new AppError('token-revoked');
    }
    const holder: Holder = { accountId, proofHash: null, publicKey: null };
    return this.start(provider, { mode: account.keyMode, holder, loopbackPort });
  }

  /**
   * @throws AppError `unsupported-provider`, `oauth-not-configured`, `unavailable`, and
   *   `invalid-request` for a loopback port where the operator turned that way off
   */
  private async start(id: string, purpose: Purpose): Promise<URL> {
    const provider = this.providers.get(id);
    if (provider === undefined) {
      throw new AppError('unsupported-provider');
    }
    if (purpose.loopbackPort !== null && !this.settings.auth.loopbackReturnEnabled) {
      const message = 'This server does not return to programs on a computer.';
      throw new AppError('invalid-request', { details: [{ path: 'loopbackPort', message }] });
    }
    const redirectUri = this.providers.redirectUri(id);
    if (redirectUri === null || returnAddressOf(this.settings, id) === null) {
      throw new AppError('oauth-not-configured', { provider: id });
    }
    const request: AuthorizationRequest = {
      redirectUri,
      state: secret(),
      nonce: secret(),
      codeVerifier: secret(),
    };
    const url = await provider.authorizationUrl(request).catch((error: unknown) => {
      throw error instanceof ProviderError
        ? new AppError('unavailable', { provider: id }, { cause: error.cause ?? error })
        : error;
    });
    const { state, ...kept } = request;
    const contents: FlowContents = { provider: id, ...purpose, ...kept };
    const expiresAt = new Date(this.clock.now() + LIFETIME_MS);
    await this.flows.add('external-flow', state, contents, expiresAt);
    return url;
  }

  private checkKnown(provider: string): void {
    if (this.providers.get(provider) === undefined) {
      throw new AppError('unsupported-provider');
    }
  }
}

/** base64url, which is also what PKCE allows (RFC 7636, 4.1). */
function secret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
