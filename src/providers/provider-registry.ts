import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { rulesOf } from '../config/eligibility-rules.js';
import { SETTINGS, type ProviderSettings, type Settings } from '../config/settings.js';
import type { EligibilityRules } from '../policy/eligibility.js';
import type { Authority } from '../policy/identity-issuer.js';
import { GitHubProvider } from './github.provider.js';
import type { IdentityProvider } from './identity-provider.js';
import { OidcProvider } from './oidc.provider.js';
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamLimits } from './upstream-http.js';

interface Entry {
  readonly settings: ProviderSettings;
  readonly provider: IdentityProvider;
}

/** GitHub counts 900 points a minute and 100 requests at once against whoever asks. */
const GITHUB_LIMITS: UpstreamLimits = {
  ...DEFAULT_UPSTREAM_LIMITS,
  budget: { perSecond: 15, burst: 30, longestWaitMs: 5_000 },
};

/** The configured identity providers by their ids. Making them asks nobody anything. */
@Injectable()
export class ProviderRegistry {
  private readonly entries: ReadonlyMap<string, Entry>;

  constructor(@Inject(SETTINGS) settings: Settings, clock: Clock) {
    this.entries = new Map(
      settings.providers.map((one) => [
        one.id,
        { settings: one, provider: providerFor(one, clock) },
      ]),
    );
  }

  get(id: string): IdentityProvider | undefined {
    return this.entries.get(id)?.provider;
  }

  ids(): string[] {
    return [...this.entries.keys()];
  }

  /** The callback address registered with the provider; null when there is none. */
  redirectUri(id: string): string | null {
    return this.entries.get(id)?.settings.redirectUrl ?? null;
  }

  /** The operator's rules for people of the provider; undefined when it is not configured. */
  rules(id: string): EligibilityRules | undefined {
    const entry = this.entries.get(id);
    return entry && rulesOf(entry.settings);
  }

  /** Who names the people of the provider; undefined when it is not configured. */
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

function providerFor(settings: ProviderSettings, clock: Clock): IdentityProvider {
  switch (settings.type) {
    case 'github':
      return new GitHubProvider(settings, clock, GITHUB_LIMITS);
    case 'oidc':
      return new OidcProvider(settings, clock, DEFAULT_UPSTREAM_LIMITS);
  }
}
