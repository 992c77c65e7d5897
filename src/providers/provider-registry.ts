import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../common/clock.js';
import { eligibilityRulesOf } from '../policy/eligibility/provider-rules.js';
import { OperatorRules } from '../config/rules/operator-rules.js';
import { providersConfig, type ProviderSettings } from '../config/providers.config.js';
import type { EligibilityRules } from '../policy/eligibility/eligibility.js';
import type { Authority } from '../policy/eligibility/identity-link.js';
import { GitHubProvider } from './github/github.provider.js';
import {
  isClientKeyPublisher,
  isLogoutNotifier,
  type Diagnosable,
  type IdentityProvider,
  type LogoutNotifier,
} from './identity-provider.js';
import { OidcProvider } from './oidc/oidc.provider.js';
import { UpstreamConnections } from './http/upstream-connections.js';
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamLimits } from './http/upstream-http.js';
import { ObservedProvider, ProviderHealth } from './provider-health.js';

interface Entry {
  readonly settings: ProviderSettings;
  readonly provider: IdentityProvider;
  readonly observed: IdentityProvider;
}

/** GitHub allows 900 points a minute and 100 concurrent requests per client. */
const GITHUB_LIMITS: UpstreamLimits = {
  ...DEFAULT_UPSTREAM_LIMITS,
  budget: { perSecond: 15, burst: 30, longestWaitMs: 5_000 },
};

/** The configured identity providers by id. Creating them sends no request. */
@Injectable()
export class ProviderRegistry {
  private readonly entries: ReadonlyMap<string, Entry>;

  constructor(
    @Inject(providersConfig.KEY) config: ConfigType<typeof providersConfig>,
    private readonly operator: OperatorRules,
    clock: Clock,
    connections: UpstreamConnections,
    health: ProviderHealth,
  ) {
    this.entries = new Map(
      config.map((settings) => {
        const provider = providerFor(settings, clock, connections, () => this.rules(settings.id));
        const keepsCredentials = settings.type === 'oidc' && settings.storeRefreshToken;
        const observed = new ObservedProvider(provider, health, keepsCredentials);
        return [settings.id, { settings, provider, observed }];
      }),
    );
  }

  get(id: string): IdentityProvider | undefined {
    return this.entries.get(id)?.observed;
  }

  /** The provider as the sender of logout tokens; undefined for one that sends none. */
  logoutNotifier(id: string): LogoutNotifier | undefined {
    const provider = this.entries.get(id)?.provider;
    return provider !== undefined && isLogoutNotifier(provider) ? provider : undefined;
  }

  /** The public keys of this server's client at the provider; null where there are none. */
  async clientKeys(id: string): Promise<readonly object[] | null> {
    const provider = this.entries.get(id)?.provider;
    return provider !== undefined && isClientKeyPublisher(provider) ? provider.clientKeys() : null;
  }

  ids(): string[] {
    return [...this.entries.keys()];
  }

  /** The name that people see; the id when the provider is not configured. */
  displayName(id: string): string {
    return this.entries.get(id)?.settings.displayName ?? id;
  }

  /** The callback address registered with the provider; null when there is none. */
  redirectUri(id: string): string | null {
    return this.entries.get(id)?.settings.redirectUrl ?? null;
  }

  /** The operator's eligibility rules of the provider, now; undefined when it is not configured. */
  rules(id: string): EligibilityRules | undefined {
    const settings = this.operator.current().providers.find((one) => one.id === id);
    return settings && eligibilityRulesOf(settings);
  }

  /** The issuer of the provider's subjects; undefined when it is not configured. */
  authority(id: string): Authority | undefined {
    const settings = this.entries.get(id)?.settings;
    switch (settings?.type) {
      case undefined:
        return undefined;
      case 'github':
        return { issuer: settings.baseUrl, formerIssuers: [] };
      case 'oidc':
        return { issuer: settings.issuer, formerIssuers: settings.formerIssuers };
    }
  }
}

/**
 * Creates a provider, which sends no request.
 *
 * @param rules as they are now; undefined = those of the settings
 */
export function providerFor(
  settings: ProviderSettings,
  clock: Clock,
  connections: UpstreamConnections,
  rules: () => EligibilityRules | undefined = () => undefined,
): IdentityProvider & Diagnosable {
  switch (settings.type) {
    case 'github':
      return new GitHubProvider(settings, clock, connections, GITHUB_LIMITS);
    case 'oidc':
      return new OidcProvider(
        settings,
        clock,
        connections,
        DEFAULT_UPSTREAM_LIMITS,
        () => rules() ?? eligibilityRulesOf(settings),
      );
  }
}
