import { createHash } from 'node:crypto';
import type { Runtime } from '../../../common/runtime/runtime.js';
import type { GitHubProviderSettings } from '../../config/providers-file/provider-settings.js';
import type { UpstreamConnectionsService } from '../http/upstream-connections.service.js';
import { UpstreamHttp, type UpstreamLimits } from '../http/upstream-http.js';
import {
  ProviderError,
  type AuthorizationRequest,
  type Diagnosable,
  type DiagnosisStep,
  type Exchange,
  type IdentityProvider,
  type ProviderProfile,
  type Recheck,
  type RecheckSubject,
} from '../identity-provider.js';
import { PassportFlow, PassportProvider } from '../passport/passport-flow.js';
import { GitHubStrategy } from '../passport/strategies.js';
import { failedStep, knownErrorCode, unknownBecause } from '../provider-failure.js';
import { GitHubApi, type GitHubLookup, type GitHubUser } from './github-api.js';
import { GitHubMemberships, readOrgEntry } from './github-memberships.js';
import { GitHubOrganizations } from './github-organizations.js';
import type { OrganizationIds } from './organization-ids.js';
import {
  GitHubAppTokens,
  GitHubGrantSpent,
  GitHubUserTokens,
  tokenOf,
  type GitHubUserToken,
} from './github-tokens.js';

/** With a GitHub App, which reads memberships, no user's token is stored for the re-check. */
export class GitHubProvider extends PassportProvider implements IdentityProvider, Diagnosable {
  /** Organisations of the rules, including those of teams. */
  private readonly orgs: readonly string[];
  private readonly userTokens: GitHubUserTokens;
  private readonly api: GitHubApi;
  private readonly appTokens: GitHubAppTokens | null;
  private readonly memberships: GitHubMemberships;
  protected readonly flow: PassportFlow;

  constructor(
    private readonly settings: GitHubProviderSettings,
    runtime: Runtime,
    connections: UpstreamConnectionsService,
    limits: UpstreamLimits,
    organizationIds: OrganizationIds,
  ) {
    super(settings.id);
    const { clock } = runtime;
    const http = new UpstreamHttp(runtime, connections, limits);
    this.orgs = [...new Set(settings.allowedOrgs.map((entry) => readOrgEntry(entry).org))];
    this.api = new GitHubApi(settings.apiUrl, http, clock);
    const { app, allowedOrgs, orgMembershipSource } = settings;
    const asksByApp = orgMembershipSource === 'github_app' && allowedOrgs.length > 0;
    const organizations = new GitHubOrganizations(this.api, organizationIds);
    this.appTokens =
      app !== null && asksByApp ? new GitHubAppTokens(app, this.api, organizations, clock) : null;
    this.userTokens = new GitHubUserTokens(settings, http, clock);
    this.memberships = new GitHubMemberships(settings, this.api, organizations, this.appTokens);
    const strategy = new GitHubStrategy({
      url: (request) => Promise.resolve(this.startUrl(request)),
      exchange: (callback, request) => this.exchangeCode(callback, request),
    });
    this.flow = new PassportFlow(settings.id, strategy);
  }

  /** Checks a user by the numeric id, which stays the same when the login changes. */
  async recheck(subject: RecheckSubject, signal: AbortSignal): Promise<Recheck> {
    const { appTokens } = this;
    if (appTokens !== null) {
      return this.recheckByApp(subject.subject, appTokens, signal).catch(unknownBecause);
    }
    const kept = subject.credentials === null ? null : tokenOf(subject.credentials);
    if (kept === null) {
      return { outcome: 'login_needed', reason: 'no_user_token' };
    }
    // A refresh is never aborted: its answer may contain the only valid token.
    const renewed = await this.renewed(kept);
    if ('outcome' in renewed) {
      return renewed;
    }
    if (renewed !== kept) {
      await subject.saveCredentials(JSON.stringify(renewed));
    }
    return this.recheckByUser(renewed.accessToken, subject.subject, signal).catch(unknownBecause);
  }

  async diagnose(): Promise<readonly DiagnosisStep[]> {
    const { appTokens } = this;
    const orgs = appTokens === null ? [] : this.orgs;
    return [
      await this.diagnoseClient(),
      ...(await Promise.all(orgs.map((org) => this.diagnoseApp(org, appTokens)))),
    ];
  }

  /** GitHub authenticates the client before it checks the code. */
  private async diagnoseClient(): Promise<DiagnosisStep> {
    try {
      await this.userTokens.byCode('no-code', this.settings.redirectUrl ?? '', 'no-verifier');
    } catch (error) {
      if (!(error instanceof GitHubGrantSpent)) {
        return failedStep('client', error);
      }
    }
    const message = 'it accepts the client id and the client secret';
    return { step: 'client', severity: 'ok', cause: null, message };
  }

  private async diagnoseApp(org: string, tokens: GitHubAppTokens | null): Promise<DiagnosisStep> {
    try {
      const token = (await tokens?.forOrg(org)) ?? null;
      const isOk = token?.readsMembers === true;
      const message =
        token === null
          ? `the app is not installed in ${org}`
          : `the app ${isOk ? 'reads' : 'may not read'} the members of ${org}`;
      return { step: 'app', severity: isOk ? 'ok' : 'error', cause: null, message };
    } catch (error) {
      return failedStep('app', error);
    }
  }

  private startUrl(request: AuthorizationRequest): URL {
    const url = new URL(`${this.settings.baseUrl}/login/oauth/authorize`);
    const challenge = createHash('sha256').update(request.codeVerifier).digest('base64url');
    // Without a scope the token shows only public data, which is enough if an app reads
    // memberships.
    const readsOrgs = this.appTokens === null && this.settings.allowedOrgs.length > 0;
    url.search = new URLSearchParams({
      client_id: this.settings.clientId,
      redirect_uri: request.redirectUri,
      state: request.state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...(readsOrgs && { scope: 'read:org' }),
    }).toString();
    return url;
  }

  private async exchangeCode(callback: URL, request: AuthorizationRequest): Promise<Exchange> {
    const code = codeIn(callback.searchParams, request.state);
    const token = await this.userTokens.byCode(code, request.redirectUri, request.codeVerifier);
    const user = await this.api.userByToken(token.accessToken);
    if (typeof user === 'string') {
      const refusal = user === 'suspended' ? 'access_denied' : 'upstream_error';
      throw new ProviderError(refusal, { detail: `user_${user}` });
    }
    const isKept = this.appTokens === null;
    const profile = await this.profileOf(user, isKept ? token.accessToken : null);
    const credentials = isKept ? JSON.stringify(token) : null;
    return { profile, credentials, providerSession: null };
  }

  /** GitHub has no groups, and no e-mail address is requested. */
  private async profileOf(
    user: GitHubUser,
    accessToken: string | null,
    signal?: AbortSignal,
  ): Promise<ProviderProfile> {
    const { subject, login } = user;
    const memberships = await this.memberships.of({ ...user, accessToken }, signal);
    const facts = { login, email: null, emailVerified: false, groups: null, memberships };
    return { subject, facts };
  }

  private async recheckByApp(
    subject: string,
    tokens: GitHubAppTokens,
    signal: AbortSignal,
  ): Promise<Recheck> {
    const found = await this.findByApp(subject, tokens, signal);
    if (typeof found !== 'string') {
      return this.recheckedAs(found, subject, null, signal);
    }
    return found === 'unknown_token'
      ? { outcome: 'unknown', reason: 'app_without_permission' }
      : gone(found);
  }

  private async recheckByUser(
    accessToken: string,
    subject: string,
    signal: AbortSignal,
  ): Promise<Recheck> {
    const found = await this.api.userByToken(accessToken, signal);
    if (typeof found !== 'string') {
      return this.recheckedAs(found, subject, accessToken, signal);
    }
    if (found === 'suspended') {
      return gone(found);
    }
    return found === 'unknown_token' && (await this.userTokens.isRevoked(accessToken))
      ? { outcome: 'gone', reason: 'token_revoked' }
      : { outcome: 'unknown', reason: 'token_refused' };
  }

  private async recheckedAs(
    user: GitHubUser,
    subject: string,
    accessToken: string | null,
    signal: AbortSignal,
  ): Promise<Recheck> {
    return user.subject === subject
      ? { outcome: 'profile', profile: await this.profileOf(user, accessToken, signal) }
      : { outcome: 'unknown', reason: 'subject_mismatch' };
  }

  private async renewed(token: GitHubUserToken): Promise<GitHubUserToken | Recheck> {
    if (!this.userTokens.isExpiring(token)) {
      return token;
    }
    if (token.refreshToken === null) {
      return { outcome: 'login_needed', reason: 'user_token_expired' };
    }
    try {
      const fresh = await this.userTokens.byRefreshToken(token.refreshToken);
      return { ...fresh, refreshToken: fresh.refreshToken ?? token.refreshToken };
    } catch (error) {
      return error instanceof GitHubGrantSpent
        ? { outcome: 'gone', reason: error.reason }
        : unknownBecause(error);
    }
  }

  /** Asks every installation, as some hide managed users of other enterprises. */
  private async findByApp(
    subject: string,
    tokens: GitHubAppTokens,
    signal: AbortSignal,
  ): Promise<GitHubLookup> {
    let verdict: 'absent' | 'unknown_token' = 'absent';
    for (const org of this.orgs) {
      const token = await tokens.forOrg(org);
      const found =
        token === null ? 'unknown_token' : await this.api.userById(subject, token.token, signal);
      if (typeof found !== 'string' || found === 'suspended') {
        return found;
      }
      if (found === 'unknown_token') {
        tokens.forget(org);
      }
      if (found === 'unknown_token' || token?.readsMembers !== true) {
        verdict = 'unknown_token';
      }
    }
    return verdict;
  }
}

function gone(found: 'absent' | 'suspended'): Recheck {
  const reason = found === 'suspended' ? 'account_suspended' : 'account_not_found';
  return { outcome: 'gone', reason };
}

function codeIn(parameters: URLSearchParams, expectedState: string): string {
  const [state, ...otherStates] = parameters.getAll('state');
  const [code, ...otherCodes] = parameters.getAll('code');
  // No parameter may occur twice (RFC 6749, 3.1).
  if (state !== expectedState || otherStates.length > 0 || otherCodes.length > 0) {
    throw new ProviderError('invalid_response');
  }
  const error = parameters.get('error');
  if (error !== null) {
    const refusal = error === 'access_denied' ? error : 'invalid_response';
    throw new ProviderError(refusal, { detail: knownErrorCode(error) });
  }
  if (code === undefined || code === '') {
    throw new ProviderError('invalid_response', { detail: 'no_code' });
  }
  return code;
}
