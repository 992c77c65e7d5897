import { ResponseBodyError, type ServerMetadata } from 'openid-client';
import type { Runtime } from '../../../common/runtime/runtime.js';
import type { OidcProviderSettings } from '../../config/providers-file/provider-settings.js';
import type { EligibilityRules } from '../../../core/policy/eligibility/eligibility.js';
import { believesEmail, capabilitiesOf } from '../../../core/policy/eligibility/provider-rules.js';
import {
  ProviderError,
  type AuthorizationRequest,
  type ClientKeyPublisher,
  type Diagnosable,
  type DiagnosisStep,
  type Exchange,
  type IdentityProvider,
  type LogoutNotice,
  type LogoutNotifier,
  type Recheck,
  type RecheckSubject,
} from '../identity-provider.js';
import type { UpstreamConnectionsService } from '../http/upstream-connections.service.js';
import { UpstreamHttp, type UpstreamLimits } from '../http/upstream-http.js';
import { OidcStrategy } from '../passport/strategies.js';
import { PassportFlow, PassportProvider } from '../passport/passport-flow.js';
import { failedStep, unknownBecause } from '../provider-failure.js';
import { ClientAuthentication } from './client-authentication.js';
import { GoogleDirectory } from './google-directory.js';
import { OidcClient, type OidcTokens } from './oidc-client.js';
import { RemoteKeySet } from '../http/remote-key-set.js';
import { OidcDiscovery } from './oidc-discovery.js';
import { EntraGroups, OidcProfiles } from './oidc-profile.js';
import { OidcTokenVerifier, sessionIn } from './oidc-token-verifier.js';
import { signalTokensOf, type SignalTokens } from '../signals/signal-tokens.js';

const GRAPH_URL = 'https://graph.microsoft.com';

/** Google allows 2,400 requests a minute for an administrator. */
const GOOGLE_BUDGET = { perSecond: 30, burst: 60, longestWaitMs: 5_000 };

export class OidcProvider
  extends PassportProvider
  implements IdentityProvider, LogoutNotifier, ClientKeyPublisher, Diagnosable
{
  readonly signalTokens: SignalTokens;
  private readonly authentication: ClientAuthentication;
  private readonly client: OidcClient;
  /** null = re-checks use the refresh tokens of users. */
  private readonly directory: GoogleDirectory | null;
  private readonly profiles: OidcProfiles;
  protected readonly flow: PassportFlow;
  private readonly discovery: OidcDiscovery;
  private readonly keys: RemoteKeySet;
  private readonly verifier: OidcTokenVerifier;

  constructor(
    private readonly settings: OidcProviderSettings,
    private readonly runtime: Runtime,
    connections: UpstreamConnectionsService,
    limits: UpstreamLimits,
    rules: () => EligibilityRules = () => capabilitiesOf(settings).rules,
  ) {
    super(settings.id);
    const { clock } = runtime;
    const ownLimits = { ...limits, timeoutMs: settings.httpTimeoutSeconds * 1000 };
    const httpWith = (more: Partial<UpstreamLimits> = {}): UpstreamHttp =>
      new UpstreamHttp(runtime, connections, { ...ownLimits, ...more });
    const { issuer } = settings;
    const http = httpWith({ issuer });
    this.discovery = new OidcDiscovery(settings, http, clock);
    this.keys = new RemoteKeySet(http, clock);
    this.verifier = new OidcTokenVerifier(settings, this.keys, httpWith({ issuer }), clock);
    this.authentication = new ClientAuthentication(settings, clock);
    const { authentication, discovery, verifier } = this;
    this.client = new OidcClient(settings, authentication, http, discovery, verifier);
    this.signalTokens = signalTokensOf(settings, runtime, connections, ownLimits);
    const { graph, graphUrl } = settings.entra;
    const entraGroups = graph ? new EntraGroups(graphUrl ?? GRAPH_URL, httpWith()) : null;
    const googleHttp = httpWith({ budget: GOOGLE_BUDGET });
    const { googleWorkspaceGroups: workspace } = settings;
    this.directory = workspace && new GoogleDirectory(workspace, googleHttp, clock);
    this.profiles = new OidcProfiles(settings, this.client, entraGroups, this.directory, rules);
    const strategy = new OidcStrategy(settings, {
      url: () => this.client.authorizationEndpoint(),
      exchange: (callback, request) => this.exchangeCode(callback, request),
    });
    this.flow = new PassportFlow(settings.id, strategy);
  }

  async recheck(subject: RecheckSubject, signal: AbortSignal): Promise<Recheck> {
    if (this.directory !== null) {
      return this.recheckIn(this.directory, subject, signal).catch(unknownBecause);
    }
    if (subject.credentials === null) {
      return { outcome: 'login_needed', reason: 'no_refresh_token' };
    }
    if (signal.aborted) {
      return { outcome: 'unknown', reason: 'aborted' };
    }
    // Not aborted by the signal: the answer may contain the only valid refresh token.
    const refresh = await this.client.refresh(subject.credentials);
    if (refresh.replacement !== null) {
      await subject.saveCredentials(refresh.replacement);
    }
    try {
      return await this.recheckWith(await refresh.tokens(), subject.subject, signal);
    } catch (error) {
      // The refresh token is revoked, expired or of another client (RFC 6749, 5.2).
      return error instanceof ResponseBodyError && error.error === 'invalid_grant'
        ? { outcome: 'gone', reason: 'invalid_grant' }
        : unknownBecause(error);
    }
  }

  async verifyLogoutToken(token: string): Promise<LogoutNotice> {
    this.verifier.refuseForeignLogoutToken(token);
    return this.verifier.verifyLogoutToken(token, await this.discovery.metadata());
  }

  clientKeys(): ReturnType<ClientAuthentication['publicKeys']> {
    return this.authentication.publicKeys();
  }

  async diagnose(): Promise<readonly DiagnosisStep[]> {
    try {
      const metadata = await this.discovery.metadata();
      const found = { step: 'discovery', severity: 'ok', cause: null } as const;
      return [
        { ...found, message: 'its discovery document is read' },
        await this.diagnoseKeys(metadata),
        await this.diagnoseClient(),
        ...(this.settings.storeRefreshToken ? [this.diagnoseRefreshTokens(metadata)] : []),
        ...(this.directory === null ? [] : [await this.directory.diagnose()]),
      ];
    } catch (error) {
      return [failedStep('discovery', error)];
    }
  }

  private async diagnoseKeys(metadata: ServerMetadata): Promise<DiagnosisStep> {
    try {
      const count = await this.keys.count(String(metadata.jwks_uri));
      const severity = count > 0 ? 'ok' : 'error';
      const message = `it publishes ${count} ${count === 1 ? 'key' : 'keys'}`;
      return { step: 'keys', severity, cause: null, message };
    } catch (error) {
      return failedStep('keys', error);
    }
  }

  /** A token endpoint authenticates the client before it checks the refresh token (RFC 6749, 6). */
  private async diagnoseClient(): Promise<DiagnosisStep> {
    const accepted = { step: 'client', severity: 'ok', cause: null } as const;
    try {
      const { tokens } = await this.client.refresh(this.runtime.random.secret());
      await tokens();
    } catch (error) {
      if (!(error instanceof ResponseBodyError && error.error === 'invalid_grant')) {
        return failedStep('client', error);
      }
    }
    return { ...accepted, message: 'it accepts the client id and its credentials' };
  }

  private diagnoseRefreshTokens(metadata: ServerMetadata): DiagnosisStep {
    const { grant_types_supported: grants, scopes_supported: scopes } = metadata;
    const found = { step: 'refresh-token', cause: null } as const;
    if (grants?.includes('refresh_token') === false) {
      const message =
        'it lists no refresh tokens: people have to sign in there again after every interval';
      return { ...found, severity: 'error', message };
    }
    if (scopes?.includes('offline_access') && !this.settings.scopes.includes('offline_access')) {
      const message =
        'it lists the scope offline_access, which is not asked for: most providers give a refresh token for it only';
      return { ...found, severity: 'warning', message };
    }
    return { ...found, severity: 'ok', message: 'it may give refresh tokens; a login shows it' };
  }

  private async recheckIn(
    directory: GoogleDirectory,
    { subject, login }: RecheckSubject,
    signal: AbortSignal,
  ): Promise<Recheck> {
    const user = await directory.find(subject, signal);
    switch (user) {
      case 'absent':
        return { outcome: 'gone', reason: 'account_not_found' };
      case 'suspended':
        return { outcome: 'gone', reason: 'account_suspended' };
      case 'hidden':
        return { outcome: 'unknown', reason: 'account_hidden' };
    }
    const { email, groups } = user;
    // An administrator sets the address, in a domain that Google verified.
    const emailVerified = believesEmail(this.settings, true);
    const isLogin = this.settings.claims.login === 'email';
    const facts = { login: isLogin ? email : login, email, emailVerified, groups, memberships: {} };
    return { outcome: 'profile', profile: { subject, facts } };
  }

  private async recheckWith(
    tokens: OidcTokens,
    subject: string,
    signal: AbortSignal,
  ): Promise<Recheck> {
    // An answer about another subject is ignored.
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
    const credentials = this.settings.storeRefreshToken ? tokens.refreshToken : null;
    return { profile, credentials, providerSession: sessionIn(tokens.claims ?? {}) };
  }
}
