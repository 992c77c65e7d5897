import type { GitHubProviderSettings } from '../config/settings.js';
import type { Membership } from '../policy/eligibility.js';
import type { GitHubApi } from './github-api.js';
import type { GitHubAppTokens } from './github-app-tokens.js';
import { readJsonObject } from './response-body.js';
import { UpstreamError } from './upstream-error.js';

export interface GitHubMember {
  /** The numeric id. */
  readonly subject: string;
  readonly login: string;
  /** The person's own token; null when memberships are read by a GitHub App. */
  readonly accessToken: string | null;
}

type OrgRules = Pick<GitHubProviderSettings, 'allowedOrgs' | 'orgMatch'>;

/** Scopes of an OAuth token that show memberships. */
const ORG_SCOPES = ['read:org', 'write:org', 'admin:org'];

/**
 * Reads memberships in the organisations that the rules name. A 404 is a no only when the token that
 * was used may see members; a redirect (302) and every other refusal say nothing.
 */
export class GitHubMemberships {
  constructor(
    private readonly rules: OrgRules,
    private readonly api: GitHubApi,
    /** null = memberships are read with the person's own token. */
    private readonly appTokens: GitHubAppTokens | null,
  ) {}

  /** Memberships by organisation, in lower case; one is enough for `any`. @throws UpstreamError */
  async of(member: GitHubMember, signal?: AbortSignal): Promise<Record<string, Membership>> {
    const found: Record<string, Membership> = {};
    for (const org of this.rules.allowedOrgs) {
      const membership = await this.in(org, member, signal);
      found[org] = membership;
      if (membership === 'active' && this.rules.orgMatch === 'any') {
        break;
      }
    }
    return found;
  }

  private in(org: string, member: GitHubMember, signal?: AbortSignal): Promise<Membership> {
    return this.appTokens === null
      ? this.byPerson(org, member, signal)
      : this.byApp(org, member, this.appTokens, signal);
  }

  private async byPerson(
    org: string,
    member: GitHubMember,
    signal: AbortSignal | undefined,
  ): Promise<Membership> {
    if (member.accessToken === null) {
      return 'unknown';
    }
    const path = ['user', 'memberships', 'orgs', org];
    const response = await this.api.call(path, member.accessToken, { signal });
    const scopes = (response.headers.get('x-oauth-scopes') ?? '').split(/\s*,\s*/);
    const seesOrgs = scopes.some((scope) => ORG_SCOPES.includes(scope));
    return membershipIn(response, member, seesOrgs);
  }

  private async byApp(
    org: string,
    member: GitHubMember,
    tokens: GitHubAppTokens,
    signal: AbortSignal | undefined,
  ): Promise<Membership> {
    const token = await tokens.forOrg(org);
    if (token === null) {
      return 'unknown';
    }
    const path = ['orgs', org, 'memberships', member.login];
    const response = await this.api.call(path, token.token, { signal });
    if (response.status === 401) {
      tokens.forget(org);
    }
    return membershipIn(response, member, token.readsMembers);
  }
}

async function membershipIn(
  response: Response,
  { subject }: GitHubMember,
  seesMembers: boolean,
): Promise<Membership> {
  if (response.status === 404) {
    return seesMembers ? 'none' : 'unknown';
  }
  if (response.status !== 200) {
    return 'unknown';
  }
  const { state, user } = await readJsonObject(response);
  // A login can change hands between two calls: only the numeric id says whose membership this is.
  if (String((user as { readonly id?: unknown } | undefined)?.id) !== subject) {
    return 'unknown';
  }
  if (state !== 'active' && state !== 'pending') {
    throw new UpstreamError('unexpected_answer');
  }
  return state;
}
