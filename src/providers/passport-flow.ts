import passport, { type Strategy } from 'passport';
import { exchangeFailure } from './exchange-failure.js';
import { ProviderError, type AuthorizationRequest, type Exchange } from './identity-provider.js';

/** The request a strategy sees; what Express would add is not there. */
export interface StrategyRequest {
  readonly method: 'GET';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when the browser is to be sent away; the provider's answer when it came back. */
  readonly query: Readonly<Record<string, string>>;
}

/** `state` and `callbackURL` are what strategies of the OAuth family know; the rest is ours. */
export interface StrategyOptions {
  readonly session: false;
  readonly state: string;
  readonly callbackURL: string;
  readonly authorization: AuthorizationRequest;
  /** null when the browser is to be sent away. */
  readonly callback: URL | null;
}

type Outcome =
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'success'; readonly user: unknown }
  | { readonly kind: 'failure' };

type Middleware = (request: object, response: object, next: (error?: unknown) => void) => void;

/**
 * Runs one Passport strategy without Express: no middleware chain and no session, because what one
 * authorization needs (state, nonce, PKCE) is kept by the caller, not by a cookie. The strategy's
 * user is an {@link Exchange}.
 */
export class PassportFlow {
  private readonly passport = new passport.Passport();

  constructor(
    private readonly name: string,
    strategy: Strategy,
  ) {
    this.passport.use(name, strategy);
  }

  /** Where the strategy sends the browser. @throws ProviderError */
  async authorizationUrl(request: AuthorizationRequest): Promise<URL> {
    const outcome = await this.run(request, null);
    if (outcome.kind !== 'redirect' || !URL.canParse(outcome.location)) {
      throw new ProviderError('upstream_error');
    }
    return new URL(outcome.location);
  }

  /** What the strategy makes of the browser's return. @throws ProviderError */
  async exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange> {
    const outcome = await this.run(request, callback);
    if (outcome.kind === 'success') {
      return outcome.user as Exchange;
    }
    // A strategy that would send the browser away again has not understood the answer.
    throw new ProviderError(outcome.kind === 'failure' ? 'access_denied' : 'invalid_response');
  }

  private async run(authorization: AuthorizationRequest, callback: URL | null): Promise<Outcome> {
    const options: StrategyOptions = {
      session: false,
      state: authorization.state,
      callbackURL: authorization.redirectUri,
      authorization,
      callback,
    };
    const request: StrategyRequest = {
      method: 'GET',
      url: callback === null ? '/' : `${callback.pathname}${callback.search}`,
      headers: {},
      query: Object.fromEntries(callback?.searchParams ?? []),
    };
    try {
      return await this.authenticate(request, options);
    } catch (error) {
      throw exchangeFailure(error);
    }
  }

  private authenticate(request: StrategyRequest, options: StrategyOptions): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const finished = (error: unknown, user: unknown): void => {
        if (error) {
          reject(error instanceof Error ? error : new Error('The strategy failed.'));
        } else {
          resolve(user ? { kind: 'success', user } : { kind: 'failure' });
        }
      };
      // A strategy redirects by writing to the response of Node; nothing else is ever written there.
      const response = {
        statusCode: 200,
        setHeader: (name: string, value: string): void => {
          if (name.toLowerCase() === 'location') {
            resolve({ kind: 'redirect', location: value });
          }
        },
        end: (): void => undefined,
      };
      const middleware = this.passport.authenticate(this.name, options, finished) as Middleware;
      middleware({ ...request }, response, (error) => finished(error, false));
    });
  }
}
