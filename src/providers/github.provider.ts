import { createHash } from 'node:crypto';
import type { Clock } from '../common/clock.js';
import type { GitHubProviderSettings } from '../config/settings.js';
import { GitHubApi } from './github-api.js';
import { GitHubAppTokens } from './github-app-tokens.js';
import { GitHubMemberships } from './github-memberships.js';
import { GitHubPeople } from './github-people.js';
import { gitHubProfile, GitHubRecheck } from './github-recheck.js';
import { GitHubStrategy } from './github.strategy.js';
import { credentialsOf, GitHubUserTokens } from './github-token.js';
import {
  ProviderError,
  type AuthorizationRequest,
  type Exchange,
  type IdentityProvider,
  type Recheck,
  type RecheckSubject,
} from './identity-provider.js';
import { PassportFlow } from './passport-flow.js';
import { UpstreamHttp, type UpstreamLimits } from './upstream-http.js';

/**
 * github.com or an Enterprise Server. Memberships are read by a GitHub App, and then no token of a
 * person is kept; or with the person's own token, which is what is kept for a re-check.
 */
export class GitHubProvider implements IdentityProvider {
  readonly id: string;
  private readonly userTokens: GitHubUserTokens;
  private readonly people: GitHubPeople;
  private readonly appTokens: GitHubAppTokens | null;
  private readonly memberships: GitHubMemberships;
  private readonly rechecks: GitHubRecheck;
  private readonly flow: PassportFlow;

  constructor(
    private readonly settings: GitHubProviderSettings,
    clock: Clock,
    limits: UpstreamLimits,
  ) {
    this.id = settings.id;
    const http = new UpstreamHttp(clock, limits);
    const api = new GitHubApi(settings.apiUrl, http, clock);
    const { app, allowedOrgs, orgMembershipSource } = settings;
    const asksByApp = orgMembershipSource === 'github_app' && allowedOrgs.length > 0;
    this.appTokens = app !== null && asksByApp ? new GitHubAppTokens(app, api, clock) : null;
    this.userTokens = new GitHubUserTokens(settings, http, clock);
    this.people = new GitHubPeople(api);
    this.memberships = new GitHubMemberships(settings, api, this.appTokens);
    this.rechecks = new GitHubRecheck(this.people, this.memberships, this.userTokens);
    const authorization = {
      url: (request: AuthorizationRequest) => this.startUrl(request),
      exchange: (callback: URL, request: AuthorizationRequest) =>
        this.exchangeCode(callback, request),
    };
    this.flow = new PassportFlow(settings.id, new GitHubStrategy(authorization));
  }

  authorizationUrl(request: AuthorizationRequest): Promise<URL> {
    return this.flow.authorizationUrl(request);
  }

  exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange> {
    return this.flow.exchange(callback, request);
  }

  recheck(subject: RecheckSubject, signal: AbortSignal): Promise<Recheck> {
    return this.appTokens === null
      ? this.rechecks.byPerson(subject, signal)
      : this.rechecks.byApp(subject, this.settings.allowedOrgs, this.appTokens, signal);
  }

  private startUrl(request: AuthorizationRequest): URL {
    const url = new URL(`${this.settings.baseUrl}/login/oauth/authorize`);
    const challenge = createHash('sha256').update(request.codeVerifier).digest('base64url');
    url.search = new URLSearchParams({
      client_id: this.settings.clientId,
      redirect_uri: request.redirectUri,
      state: request.state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      // No scope shows public data only, which is enough where an app reads the memberships.
      ...(this.appTokens === null && this.settings.allowedOrgs.length > 0
        ? { scope: 'read:org' }
        : {}),
    }).toString();
    return url;
  }

  private async exchangeCode(callback: URL, request: AuthorizationRequest): Promise<Exchange> {
    const code = codeIn(callback.searchParams, request.state);
    const token = await this.userTokens.byCode(code, request.redirectUri, request.codeVerifier);
    const person = await this.people.byToken(token.accessToken);
    if (typeof person === 'string') {
      throw new ProviderError('upstream_error');
    }
    const accessToken = this.appTokens === null ? token.accessToken : null;
    const memberships = await this.memberships.of({ ...person, accessToken });
    return {
      profile: gitHubProfile(person, memberships),
      credentials: this.appTokens === null ? credentialsOf(token) : null,
    };
  }
}

function codeIn(parameters: URLSearchParams, expectedState: string): string {
  const [state, ...otherStates] = parameters.getAll('state');
  const [code, ...otherCodes] = parameters.getAll('code');
  // RFC 6749, 3.1: no parameter comes twice.
  if (state !== expectedState || otherStates.length > 0 || otherCodes.length > 0) {
    throw new ProviderError('invalid_response');
  }
  if (parameters.get('error') === 'access_denied') {
    throw new ProviderError('access_denied');
  }
  if (parameters.has('error') || code === undefined || code === '') {
    throw new ProviderError('invalid_response');
  }
  return code;
}
