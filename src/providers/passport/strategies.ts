import passport, { type Strategy, type StrategyCreatedStatic } from 'passport';
import OpenIDConnectStrategy from 'passport-openidconnect';
import type { OidcProviderSettings } from '../../config/providers.config.js';
import type { AuthorizationRequest, Exchange } from '../identity-provider.js';
import type { StrategyOptions } from './passport-flow.js';

/** The two steps of an authorization, which a strategy runs. */
export interface AuthorizationSteps {
  /** @param extra parameters beyond those of the protocol */
  url(request: AuthorizationRequest, extra: object): Promise<URL>;
  exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange>;
}

/** GitHub as a Passport strategy: plain OAuth 2.0 with PKCE, as GitHub gives no ID tokens. */
export class GitHubStrategy extends passport.Strategy {
  override readonly name = 'github';

  constructor(private readonly steps: AuthorizationSteps) {
    super();
  }

  override authenticate(_request: object, given?: object): void {
    void runStep(this, this.steps, given as StrategyOptions, () => ({}));
  }
}

/**
 * The OpenID Connect strategy of Passport with the protocol done by openid-client (ADR 8). The base
 * gives its place in Passport, and `authorizationParams` for extra parameters of single providers.
 */
export class OidcStrategy extends OpenIDConnectStrategy implements Strategy {
  override readonly name = 'openidconnect';

  constructor(
    { issuer, clientId, redirectUrl }: OidcProviderSettings,
    private readonly steps: AuthorizationSteps,
  ) {
    // The base requires addresses and a secret, and uses none of them: openid-client sends the requests.
    const addresses = { authorizationURL: issuer, tokenURL: issuer, userInfoURL: issuer };
    const client = { clientID: clientId, clientSecret: '', callbackURL: redirectUrl ?? '' };
    super({ issuer, ...client, ...addresses }, () => undefined);
  }

  override authenticate(_request: object, given?: object): void {
    const options = given as StrategyOptions;
    void runStep(this, this.steps, options, () => this.authorizationParams(options));
  }
}

async function runStep(
  strategy: Pick<StrategyCreatedStatic, 'redirect' | 'success' | 'error'>,
  steps: AuthorizationSteps,
  { callback, authorization }: StrategyOptions,
  extra: () => object,
): Promise<void> {
  try {
    if (callback === null) {
      strategy.redirect((await steps.url(authorization, extra())).href);
    } else {
      strategy.success(await steps.exchange(callback, authorization));
    }
  } catch (error) {
    strategy.error(error);
  }
}
