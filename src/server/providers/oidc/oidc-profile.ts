import * as v from 'valibot';
import { isIndexable, isStorable } from '../../../common/stored-text.js';
import type { OidcProviderSettings } from '../../config/providers-file/provider-settings.js';
import {
  judgeEligibility,
  readUserEntry,
  type EligibilityFacts,
  type EligibilityRules,
} from '../../../core/policy/eligibility/eligibility.js';
import { believesEmail } from '../../../core/policy/eligibility/provider-rules.js';
import { readJson, UpstreamError, type UpstreamHttp } from '../http/upstream-http.js';
import type { ProviderProfile } from '../identity-provider.js';
import type { GoogleDirectory } from './google-directory.js';
import type { Claims, OidcClient, OidcTokens } from './oidc-client.js';

export type ClaimSettings = Pick<OidcProviderSettings, 'claims' | 'emailVerification'> &
  Partial<Pick<OidcProviderSettings, 'scim'>>;

/** The only claim that `email_verified` covers (OpenID Connect Core 1.0, 5.1). */
const EMAIL = 'email';

export class OidcProfiles {
  constructor(
    private readonly settings: OidcProviderSettings,
    private readonly client: OidcClient,
    private readonly entraGroups: EntraGroups | null,
    private readonly directory: GoogleDirectory | null,
    private readonly rules: () => EligibilityRules,
  ) {}

  /** @returns null when no response identifies the user, or rules lack the ID token they need */
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
    if (this.directory !== null) {
      return {
        subject,
        facts: { ...facts, groups: await directoryGroups(this.directory, subject) },
      };
    }
    const rules = this.rules();
    const { groupsAny, groupsAll, emailDomains } = rules;
    const needsGroups = facts.groups === null && groupsAny.length + groupsAll.length > 0;
    if (needsGroups && this.entraGroups !== null) {
      const groups = await this.entraGroups.of(tokens.accessToken, signal);
      return { subject, facts: { ...facts, groups } };
    }
    const needsEmail = facts.email === null && emailDomains.length > 0;
    const isComplete = tokens.claims !== null || this.settings.fetchUserInfo;
    const needsMore = needsGroups || needsEmail || needsName(rules, { subject, facts });
    return !isComplete && needsMore ? null : { subject, facts };
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
}

/** Returns true if the person is in no entry of the allowlist, but one is about a claim that is absent. */
function needsName(rules: EligibilityRules, person: ProviderProfile): boolean {
  const verdict = judgeEligibility(rules, person);
  const { login, email } = person.facts;
  const absent = {
    subject: false,
    login: login === null,
    name: login === null,
    email: email === null,
  };
  return (
    verdict.status === 'ineligible' &&
    verdict.reason === 'user_not_allowed' &&
    rules.users.some((entry) => absent[readUserEntry(entry).kind])
  );
}

/** @returns [] for a person who is absent from the directory; null = not of this organization */
async function directoryGroups(
  directory: GoogleDirectory,
  subject: string,
): Promise<readonly string[] | null> {
  const user = await directory.find(subject);
  if (user === 'hidden') {
    return null;
  }
  return typeof user === 'string' ? [] : user.groups;
}

/** Userinfo is newer and takes precedence. `email_verified` covers the `email` of its response. */
export function mergeClaims(idToken: Claims, userInfo: Claims): Claims {
  const addressed = Object.hasOwn(userInfo, EMAIL) ? userInfo : idToken;
  return { ...idToken, ...userInfo, email_verified: own(addressed, 'email_verified') };
}

/** Absent groups are null. */
export function factsOf(claims: Claims, settings: ClaimSettings): EligibilityFacts {
  const oid = settings.scim?.match === 'oid' ? textOf(own(claims, 'oid')) : null;
  return {
    login: textOf(own(claims, settings.claims.login)),
    email: textOf(own(claims, settings.claims.email)),
    emailVerified: believesEmail(settings, isVerified(claims)),
    groups: groupsIn(claims, settings.claims.groups),
    memberships: {},
    ...(oid !== null && { oid }),
  };
}

function isVerified(claims: Claims): boolean {
  const verified = own(claims, 'email_verified');
  // Some providers write the flag as a string.
  return verified === true || verified === 'true';
}

/**
 * A distributed claim (Microsoft Entra ID sends one beyond 200 groups) counts as absent: its
 * address would let a token choose the address that this server calls.
 */
function groupsIn(claims: Claims, name: string): readonly string[] | null {
  const value = own(claims, name);
  if (typeof value !== 'string' && !Array.isArray(value)) {
    return null;
  }
  return [value].flat().filter(isGroup);
}

function own(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** People may choose their name: one that reads backwards or has lines could pass as another's, and a blank one be overlooked. */
const NAME = /^(?=.*[\p{L}\p{N}\p{P}\p{S}])[^\p{Cc}\u202a-\u202e\u2066-\u2069]*$/u;

function textOf(value: unknown): string | null {
  return typeof value === 'string' && isIndexable(value) && NAME.test(value) ? value : null;
}

function isGroup(value: unknown): value is string {
  return typeof value === 'string' && isStorable(value);
}

const FIRST_PAGE = '/v1.0/me/transitiveMemberOf?$select=id&$top=999';

/** Limit that ends a loop of pages; Microsoft Entra ID itself allows about 20,000 memberships. */
const MOST_PAGES = 50;

/** Directory roles and administrative units are in the same list and become null. */
const GROUP = v.object({ '@odata.type': v.literal('#microsoft.graph.group'), id: v.string() });

const PAGE = v.object({
  value: v.array(v.fallback(v.nullable(GROUP), null)),
  '@odata.nextLink': v.nullish(v.pipe(v.string(), v.url())),
});

const ERROR_CODE = v.pipe(v.string(), v.regex(/^\w{1,60}$/));

/** Errors of Microsoft Graph; only the code is read. */
const REFUSAL = v.fallback(v.object({ error: v.object({ code: v.fallback(ERROR_CODE, '') }) }), {
  error: { code: '' },
});

/** Reads nested groups, too, with the user's own access token. */
export class EntraGroups {
  constructor(
    private readonly graphUrl: string,
    private readonly http: UpstreamHttp,
  ) {}

  /**
   * @throws UpstreamError `groups_refused` where the token may not read the groups: that is about the
   * consent of an administrator, and no answer about the person
   */
  async of(accessToken: string, signal?: AbortSignal): Promise<readonly string[]> {
    const groups: string[] = [];
    let next: string | null | undefined = new URL(FIRST_PAGE, this.graphUrl).href;
    for (let pages = 0; typeof next === 'string'; pages += 1) {
      // The access token is sent to Graph only, regardless of the next address in a page.
      if (pages === MOST_PAGES || new URL(next).origin !== new URL(this.graphUrl).origin) {
        throw new UpstreamError('unexpected_answer');
      }
      const page: v.InferOutput<typeof PAGE> = await this.read(next, accessToken, signal);
      groups.push(...page.value.flatMap((group) => (group === null ? [] : [group.id])));
      next = page['@odata.nextLink'];
    }
    return groups;
  }

  private async read(url: string, accessToken: string, signal: AbortSignal | undefined) {
    const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}` };
    const response = await this.http.fetch(url, { headers, signal });
    if (response.status === 401 || response.status === 403) {
      const { error } = await readJson(response, REFUSAL);
      throw new UpstreamError('groups_refused', { detail: error.code || String(response.status) });
    }
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    return readJson(response, PAGE);
  }
}
