import passport, { type Strategy } from 'passport';
import {
  ProviderError,
  type AuthorizationRequest,
  type Exchange,
  type IdentityProvider,
} from '../identity-provider.js';
import { exchangeFailure } from '../provider-failure.js';

/** The request of a strategy, without the properties that Express adds. */
export interface StrategyRequest {
  readonly method: 'GET';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for the start; the parameters of the provider's answer for the callback. */
  readonly query: Readonly<Record<string, string>>;
}

/** OAuth strategies read `state` and `callbackURL`; the rest is specific to this server. */
export interface StrategyOptions {
  readonly session: false;
  readonly state: string;
  readonly callbackURL: string;
  readonly authorization: AuthorizationRequest;
  /** null for the start. */
  readonly callback: URL | null;
}

type Outcome =
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'success'; readonly user: unknown }
  | { readonly kind: 'failure' };

type Middleware = (request: object, response: object, next: (error?: unknown) => void) => void;

/** Runs a Passport strategy without Express or a session: the caller stores the state. */
export class PassportFlow {
  private readonly passport = new passport.Passport();

  constructor(
    private readonly name: string,
    strategy: Strategy,
  ) {
    this.passport.use(name, strategy);
  }

  async authorizationUrl(request: AuthorizationRequest): Promise<URL> {
    const outcome = await this.run(request, null);
    if (outcome.kind !== 'redirect' || !URL.canParse(outcome.location)) {
      throw new ProviderError('upstream_error');
    }
    return new URL(outcome.location);
  }

  async exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange> {
    const outcome = await this.run(request, callback);
    if (outcome.kind === 'success') {
      return outcome.user as Exchange;
    }
    // A strategy that redirects again did not accept the answer.
    throw new ProviderError(outcome.kind === 'failure' ? 'access_denied' : 'invalid_response');
  }

  private run(authorization: AuthorizationRequest, callback: URL | null): Promise<Outcome> {
    const { state, redirectUri } = authorization;
    // The token request has the address in this form too, and a provider compares the two as text.
    const callbackURL = new URL(redirectUri).href;
    const options = { session: false, state, callbackURL, authorization, callback } as const;
    const request: StrategyRequest = {
      method: 'GET',
      url: callback === null ? '/' : `${callback.pathname}${callback.search}`,
      headers: {},
      query: Object.fromEntries(callback?.searchParams ?? []),
    };
    return this.authenticate(request, options).catch((error: unknown) => {
      throw exchangeFailure(error);
    });
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
      // A strategy redirects by writing to the response of Node, and writes nothing else.
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

export abstract class PassportProvider implements Omit<IdentityProvider, 'recheck'> {
  protected abstract readonly flow: PassportFlow;

  constructor(readonly id: string) {}

  authorizationUrl(request: AuthorizationRequest): Promise<URL> {
    return this.flow.authorizationUrl(request);
  }

  exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange> {
    return this.flow.exchange(callback, request);
  }
}
