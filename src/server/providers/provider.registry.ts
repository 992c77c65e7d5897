import { Inject, Injectable } from '@nestjs/common';
import { Runtime } from '../../common/runtime/runtime.js';
import { capabilitiesOf } from '../../core/policy/eligibility/provider-rules.js';
import { OperatorRulesService } from '../config/operator-rules.service.js';
import { providersConfig, type ConfiguredProviders } from '../config/providers.config.js';
import type { ProviderSettings } from '../config/providers-file/provider-settings.js';
import type { EligibilityRules } from '../../core/policy/eligibility/eligibility.js';
import type { Authority } from '../../core/policy/eligibility/identity-link.js';
import { GitHubProvider } from './github/github.provider.js';
import { RememberedOrganizationIds, type OrganizationIds } from './github/organization-ids.js';
import {
  isClientKeyPublisher,
  isLogoutNotifier,
  type Diagnosable,
  type IdentityProvider,
  type LogoutNotifier,
} from './identity-provider.js';
import { OidcProvider } from './oidc/oidc.provider.js';
import type { SignalTokens } from './signals/signal-tokens.js';
import { UpstreamConnectionsService } from './http/upstream-connections.service.js';
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamLimits } from './http/upstream-http.js';
import { ObservedProvider, ProviderHealthService } from './provider-health.service.js';

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

const NO_SIGNALS: SignalTokens = { revocations: null, securityEvents: null, stream: null };

@Injectable()
export class ProviderRegistry {
  private readonly entries: ReadonlyMap<string, Entry>;
  private organizationIds: ((provider: string) => OrganizationIds) | null = null;

  constructor(
    @Inject(providersConfig.KEY) config: ConfiguredProviders,
    private readonly operator: OperatorRulesService,
    runtime: Runtime,
    connections: UpstreamConnectionsService,
    health: ProviderHealthService,
  ) {
    this.entries = new Map(
      config.map((settings) => {
        const { id } = settings;
        const provider = providerFor(settings, runtime, connections, {
          rules: () => this.rules(id),
          organizationIds: {
            find: (name) => this.idsOf(id).find(name),
            keep: (name, organization) => this.idsOf(id).keep(name, organization),
          },
        });
        const { storesRefreshToken } = capabilitiesOf(settings);
        const observed = new ObservedProvider(provider, health, storesRefreshToken);
        return [id, { settings, provider, observed }];
      }),
    );
  }

  /** @param idsOf where the ids of a provider's organisations are kept, beyond this process */
  keepOrganizationIds(idsOf: (provider: string) => OrganizationIds): void {
    this.organizationIds = idsOf;
  }

  get(id: string): IdentityProvider | undefined {
    return this.entries.get(id)?.observed;
  }

  logoutNotifier(id: string): LogoutNotifier | undefined {
    const provider = this.entries.get(id)?.provider;
    return provider !== undefined && isLogoutNotifier(provider) ? provider : undefined;
  }

  signalTokens(id: string): SignalTokens {
    const provider = this.entries.get(id)?.provider;
    return provider instanceof OidcProvider ? provider.signalTokens : NO_SIGNALS;
  }

  async clientKeys(id: string): Promise<readonly object[] | null> {
    const provider = this.entries.get(id)?.provider;
    return provider !== undefined && isClientKeyPublisher(provider) ? provider.clientKeys() : null;
  }

  ids(): string[] {
    return [...this.entries.keys()];
  }

  /** @returns the id when the provider is not configured */
  displayName(id: string): string {
    return this.entries.get(id)?.settings.displayName ?? id;
  }

  redirectUri(id: string): string | null {
    return this.entries.get(id)?.settings.redirectUrl ?? null;
  }

  rules(id: string): EligibilityRules | undefined {
    const settings = this.operator.current().providers.find((one) => one.id === id);
    return settings && capabilitiesOf(settings).rules;
  }

  /** Without what is kept, a stranger could take the name of an organisation. */
  private idsOf(provider: string): OrganizationIds {
    if (this.organizationIds === null) {
      throw new Error('The ids of organisations are kept nowhere.');
    }
    return this.organizationIds(provider);
  }

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

interface ProviderState {
  /** Returns the current rules; undefined = those of the settings. */
  readonly rules: () => EligibilityRules | undefined;
  readonly organizationIds: OrganizationIds;
}

/** @param state absent in a process that judges no person */
export function providerFor(
  settings: ProviderSettings,
  runtime: Runtime,
  connections: UpstreamConnectionsService,
  state: ProviderState = {
    rules: () => undefined,
    organizationIds: new RememberedOrganizationIds(),
  },
): IdentityProvider & Diagnosable {
  const { rules, organizationIds } = state;
  switch (settings.type) {
    case 'github':
      return new GitHubProvider(settings, runtime, connections, GITHUB_LIMITS, organizationIds);
    case 'oidc':
      return new OidcProvider(
        settings,
        runtime,
        connections,
        DEFAULT_UPSTREAM_LIMITS,
        () => rules() ?? capabilitiesOf(settings).rules,
      );
  }
}
