import type { Strategy } from 'passport';
import OpenIDConnectStrategy from 'passport-openidconnect';
import type { OidcProviderSettings } from '../config/settings.js';
import type { AuthorizationRequest, Exchange } from './identity-provider.js';
import { OidcClient } from './oidc-client.js';
import type { StrategyOptions } from './passport-flow.js';

/** Trades a browser's return for a person. */
export type ExchangeCode = (callback: URL, request: AuthorizationRequest) => Promise<Exchange>;

/**
 * The OpenID Connect strategy of Passport with the protocol done by openid-client: the base has no
 * PKCE, no signature checks, no time-outs and no refresh (ADR 8). What stays is its place in
 * Passport, and its hook `authorizationParams` for what single providers want in addition.
 */
export class OidcStrategy extends OpenIDConnectStrategy implements Strategy {
  override readonly name = 'openidconnect';

  constructor(
    { issuer, clientId, clientSecret, redirectUrl }: OidcProviderSettings,
    private readonly client: OidcClient,
    private readonly exchangeCode: ExchangeCode,
  ) {
    super(
      {
        issuer,
        clientID: clientId,
        clientSecret,
        callbackURL: redirectUrl ?? '',
        // Found by discovery when they are needed; the base wants a value now.
        authorizationURL: issuer,
        tokenURL: issuer,
        userInfoURL: issuer,
      },
      () => undefined,
    );
  }

  /** @param given the {@link StrategyOptions} of PassportFlow: Passport's own types know less. */
  override authenticate(_request: object, given?: object): void {
    const options = given as StrategyOptions;
    const { callback, authorization } = options;
    const step =
      callback === null ? this.sendAway(options) : this.comeBack(callback, authorization);
    step.catch((error: unknown) => this.error(error as Error));
  }

  private async sendAway(options: StrategyOptions): Promise<void> {
    const extra = this.authorizationParams(options);
    const url = await this.client.authorizationUrl(options.authorization, extra);
    this.redirect(url.href);
  }

  private async comeBack(callback: URL, authorization: AuthorizationRequest): Promise<void> {
    this.success(await this.exchangeCode(callback, authorization));
  }
}
