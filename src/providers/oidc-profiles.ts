import type { OidcProviderSettings } from '../config/settings.js';
import type { EntraGroups } from './entra-groups.js';
import type { ProviderProfile } from './identity-provider.js';
import { factsOf, mergeClaims } from './oidc-claims.js';
import type { Claims, OidcClient, OidcTokens } from './oidc-client.js';

/** Puts a profile together from the ID token, userinfo and, for Entra ID, Microsoft Graph. */
export class OidcProfiles {
  constructor(
    private readonly settings: OidcProviderSettings,
    private readonly client: OidcClient,
    private readonly entraGroups: EntraGroups | null,
  ) {}

  /**
   * The profile behind the tokens; null when neither an ID token nor userinfo says who it is, or when
   * what the rules ask for is in ID tokens here and none came (OpenID Connect Core, 12.2).
   * @param subject who it must be, where that is known. @throws like OidcClient
   */
  async profileOf(
    tokens: OidcTokens,
    subject: string,
    signal?: AbortSignal,
  ): Promise<ProviderProfile | null> {
    const claims = await this.claimsOf(tokens, subject, signal);
    if (claims === null) {
      return null;
    }
    const facts = factsOf(claims, this.settings);
    const needsGroups = facts.groups === null && this.asksForGroups();
    if (needsGroups && this.entraGroups !== null) {
      const groups = await this.entraGroups.of(tokens.accessToken, signal);
      return { subject, facts: { ...facts, groups } };
    }
    const needsEmail = facts.email === null && this.settings.allow.emailDomains.length > 0;
    const isTold = tokens.claims !== null || this.settings.fetchUserInfo;
    return !isTold && (needsGroups || needsEmail) ? null : { subject, facts };
  }

  private async claimsOf(
    { claims, accessToken }: OidcTokens,
    subject: string,
    signal: AbortSignal | undefined,
  ): Promise<Claims | null> {
    if (claims !== null && !this.settings.fetchUserInfo) {
      return claims;
    }
    const userInfo = await this.client.userInfo(accessToken, subject, signal);
    return userInfo === null ? claims : mergeClaims(claims ?? {}, userInfo);
  }

  private asksForGroups(): boolean {
    const { groupsAny, groupsAll } = this.settings.allow;
    return groupsAny.length > 0 || groupsAll.length > 0;
  }
}
