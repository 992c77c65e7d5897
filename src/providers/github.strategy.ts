import passport from 'passport';
import type { AuthorizationRequest, Exchange } from './identity-provider.js';
import type { StrategyOptions } from './passport-flow.js';

/** The two ends of an authorization: where it starts, and what its return is traded for. */
export interface GitHubAuthorization {
  url(request: AuthorizationRequest): URL;
  exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange>;
}

/** GitHub as a Passport strategy: plain OAuth 2.0 with PKCE, as GitHub gives no ID tokens. */
export class GitHubStrategy extends passport.Strategy {
  override readonly name = 'github';

  constructor(private readonly authorization: GitHubAuthorization) {
    super();
  }

  /** @param given the {@link StrategyOptions} of PassportFlow: Passport's own types know less. */
  override authenticate(_request: object, given?: object): void {
    const { callback, authorization: request } = given as StrategyOptions;
    if (callback === null) {
      this.redirect(this.authorization.url(request).href);
      return;
    }
    this.authorization.exchange(callback, request).then(
      (exchange) => this.success(exchange),
      (error: unknown) => this.error(error as Error),
    );
  }
}
