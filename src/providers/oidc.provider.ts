import { ResponseBodyError } from 'openid-client';
import type { Clock } from '../common/clock.js';
import type { OidcProviderSettings } from '../config/settings.js';
import { EntraGroups } from './entra-groups.js';
import {
  ProviderError,
  type AuthorizationRequest,
  type Exchange,
  type IdentityProvider,
  type Recheck,
  type RecheckSubject,
} from './identity-provider.js';
import { OidcClient, type OidcTokens } from './oidc-client.js';
import { OidcDiscovery } from './oidc-discovery.js';
import { IdTokens } from './oidc-id-token.js';
import { OidcKeys } from './oidc-keys.js';
import { LogoutTokens, type LogoutNotice, type LogoutNotifier } from './oidc-logout-token.js';
import { OidcProfiles } from './oidc-profiles.js';
import { OidcStrategy } from './oidc.strategy.js';
import { PassportFlow } from './passport-flow.js';
import { unknownBecause } from './recheck-failure.js';
import { UpstreamHttp, type UpstreamLimits } from './upstream-http.js';

const GRAPH_URL = 'https://graph.microsoft.com';

/** Any OpenID Connect provider. What it keeps for a re-check is the refresh token. */
export class OidcProvider implements IdentityProvider, LogoutNotifier {
  readonly id: string;
  private readonly client: OidcClient;
  private readonly profiles: OidcProfiles;
  private readonly flow: PassportFlow;
  private readonly logoutTokens: LogoutTokens;

  constructor(
    private readonly settings: OidcProviderSettings,
    clock: Clock,
    limits: UpstreamLimits,
  ) {
    this.id = settings.id;
    const ownLimits = { ...limits, timeoutMs: settings.httpTimeoutSeconds * 1000 };
    const http = new UpstreamHttp(clock, ownLimits);
    const keys = new OidcKeys(http, clock);
    const idTokens = new IdTokens(settings.clientId, keys, clock);
    const discovery = new OidcDiscovery(settings, http, clock);
    this.logoutTokens = new LogoutTokens(settings.clientId, discovery, keys, clock);
    this.client = new OidcClient(settings, http, discovery, idTokens);
    const { graph, graphUrl } = settings.entra;
    const graphHttp = new UpstreamHttp(clock, ownLimits);
    const entraGroups = graph ? new EntraGroups(graphUrl ?? GRAPH_URL, graphHttp) : null;
    this.profiles = new OidcProfiles(settings, this.client, entraGroups);
    this.flow = new PassportFlow(
      settings.id,
      new OidcStrategy(settings, this.client, (callback, request) =>
        this.exchangeCode(callback, request),
      ),
    );
  }

  authorizationUrl(request: AuthorizationRequest): Promise<URL> {
    return this.flow.authorizationUrl(request);
  }

  exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange> {
    return this.flow.exchange(callback, request);
  }

  async recheck(subject: RecheckSubject, signal: AbortSignal): Promise<Recheck> {
    if (subject.credentials === null) {
      return { outcome: 'unknown', reason: 'no_refresh_token' };
    }
    if (signal.aborted) {
      return { outcome: 'unknown', reason: 'aborted' };
    }
    // Not aborted by the signal: the answer may hold the only refresh token that still works, and
    // losing it would put the person out. It has its own time limit.
    const refresh = await this.client.refresh(subject.credentials);
    if (refresh.replacement !== null) {
      await subject.saveCredentials(refresh.replacement);
    }
    try {
      return await this.judge(await refresh.tokens(), subject.subject, signal);
    } catch (error) {
      return isInvalidGrant(error)
        ? { outcome: 'gone', reason: 'invalid_grant' }
        : unknownBecause(error);
    }
  }

  verifyLogoutToken(token: string): Promise<LogoutNotice> {
    return this.logoutTokens.verify(token);
  }

  private async judge(tokens: OidcTokens, subject: string, signal: AbortSignal): Promise<Recheck> {
    // An answer about somebody else is no answer about this person.
    if (tokens.claims !== null && tokens.claims['sub'] !== subject) {
      return { outcome: 'unknown', reason: 'subject_mismatch' };
    }
    const profile = await this.profiles.profileOf(tokens, subject, signal);
    return profile === null
      ? { outcome: 'unknown', reason: 'no_claims' }
      : { outcome: 'profile', profile };
  }

  private async exchangeCode(callback: URL, request: AuthorizationRequest): Promise<Exchange> {
    const tokens = await this.client.exchangeCode(callback, request);
    const profile = await this.profiles.profileOf(tokens, String(tokens.claims?.['sub']));
    if (profile === null) {
      throw new ProviderError('invalid_response');
    }
    return { profile, credentials: this.settings.storeRefreshToken ? tokens.refreshToken : null };
  }
}

/** RFC 6749, 5.2: the refresh token is revoked, expired or was never given to this client. */
function isInvalidGrant(error: unknown): boolean {
  return error instanceof ResponseBodyError && error.error === 'invalid_grant';
}
