import { createHash } from 'node:crypto';
import passport, { type Strategy, type StrategyCreatedStatic } from 'passport';
import OpenIDConnectStrategy from 'passport-openidconnect';
import type { OidcProviderSettings } from '../../config/providers-file/provider-settings.js';
import type { AuthorizationRequest, Exchange } from '../identity-provider.js';
import type { StrategyOptions } from './passport-flow.js';

/** The two steps of an authorization, which a strategy runs. */
interface AuthorizationSteps {
  url(request: AuthorizationRequest): Promise<URL>;
  exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange>;
}

/** GitHub as a Passport strategy: OAuth 2.0 with PKCE, because GitHub issues no ID tokens. */
export class GitHubStrategy extends passport.Strategy {
  override readonly name = 'github';

  constructor(private readonly steps: AuthorizationSteps) {
    super();
  }

  override authenticate(_request: object, given?: object): void {
    void runStep(this, this.steps, given as StrategyOptions, ({ href }) => {
      (this as unknown as StrategyCreatedStatic).redirect(href);
    });
  }
}

type ExpressRequest = Parameters<OpenIDConnectStrategy['authenticate']>[0];
type StateStore = OpenIDConnectStrategy.SessionStore;

/** The caller has stored the state of the authorization already, sealed. */
const store: StateStore['store'] = (_request, _context, state, _meta, done) =>
  done(null, state as string | undefined);

/** Only makes the request: its own handling of the response is not safe (ADR 8). */
export class OidcStrategy extends OpenIDConnectStrategy implements Strategy {
  override readonly name = 'openidconnect';

  /** @param steps their address has the provider's endpoint, which discovery finds */
  constructor(
    { issuer, clientId, scopes, prompt }: OidcProviderSettings,
    private readonly steps: AuthorizationSteps,
  ) {
    const addresses = { authorizationURL: issuer, tokenURL: issuer, userInfoURL: issuer };
    const client = { clientID: clientId, clientSecret: '', callbackURL: '' };
    // The base class adds `openid`.
    const scope = scopes.filter((one) => one !== 'openid').join(' ');
    const request = { scope, prompt: prompt ?? undefined, store: { store } as StateStore };
    super({ issuer, ...client, ...addresses, ...request }, () => undefined);
  }

  override authenticate(request: object, given?: object): void {
    void runStep(this, this.steps, given as StrategyOptions, (endpoint) => {
      Object.assign(this._oauth2, { _authorizeUrl: endpoint.href });
      super.authenticate(request as ExpressRequest, given);
    });
  }

  override authorizationParams({ authorization }: StrategyOptions): object {
    const { nonce, codeVerifier } = authorization;
    const challenge = createHash('sha256').update(codeVerifier).digest('base64url');
    return { nonce, code_challenge: challenge, code_challenge_method: 'S256' };
  }
}

async function runStep(
  strategy: Pick<StrategyCreatedStatic, 'success' | 'error'>,
  steps: AuthorizationSteps,
  { callback, authorization }: StrategyOptions,
  redirect: (url: URL) => void,
): Promise<void> {
  try {
    if (callback === null) {
      redirect(await steps.url(authorization));
    } else {
      strategy.success(await steps.exchange(callback, authorization));
    }
  } catch (error) {
    strategy.error(error);
  }
}
