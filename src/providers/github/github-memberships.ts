import * as v from 'valibot';
import type { GitHubProviderSettings } from '../../config/providers-file/provider-settings.js';
import type { Membership } from '../../policy/eligibility/eligibility.js';
import { readJson, UpstreamError } from '../http/upstream-http.js';
import type { GitHubApi, GitHubUser } from './github-api.js';
import type { GitHubAppTokens } from './github-tokens.js';

interface GitHubMember extends GitHubUser {
  /** The user's own token; null when memberships are read by a GitHub App. */
  readonly accessToken: string | null;
}

/** Scopes of an OAuth token that show memberships. */
const ORG_SCOPES = ['read:org', 'write:org', 'admin:org'];

const MEMBERSHIP = v.object({
  state: v.fallback(v.nullable(v.picklist(['active', 'pending'])), null),
  user: v.fallback(v.object({ id: v.number() }), { id: 0 }),
});

const TEAM_MEMBERSHIP = v.object({ state: v.picklist(['active', 'pending']) });

export function readOrgEntry(entry: string): {
  readonly org: string;
  readonly team: string | null;
} {
  const [org = '', team = null] = entry.split('/');
  return { org, team };
}

/** A 404 refuses only if the token may see members; every other error counts as unknown. */
export class GitHubMemberships {
  constructor(
    private readonly rules: Pick<GitHubProviderSettings, 'allowedOrgs' | 'orgMatch'>,
    private readonly api: GitHubApi,
    /** null = memberships are read with the user's own token. */
    private readonly appTokens: GitHubAppTokens | null,
  ) {}

  /** @returns memberships by entry, in lower case; one is enough for `any` */
  async of(member: GitHubMember, signal?: AbortSignal): Promise<Record<string, Membership>> {
    const found: Record<string, Membership> = {};
    const inOrgs = new Map<string, Membership>();
    for (const entry of this.rules.allowedOrgs) {
      const { org, team } = readOrgEntry(entry);
      const inOrg =
        inOrgs.get(org) ??
        (this.appTokens === null
          ? await this.byUser(org, member, signal)
          : await this.byApp(org, member, this.appTokens, signal));
      inOrgs.set(org, inOrg);
      // The answer about a team has no numeric id, so it counts only with that of the organisation.
      const readsTeam = team !== null && inOrg === 'active';
      const membership = readsTeam ? await this.inTeam(org, team, member, signal) : inOrg;
      found[entry] = membership;
      if (membership === 'active' && this.rules.orgMatch === 'any') {
        break;
      }
    }
    return found;
  }

  private async byUser(
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

  /** Members of child teams count. The token of a member shows their own secret teams. */
  private async inTeam(
    org: string,
    team: string,
    member: GitHubMember,
    signal: AbortSignal | undefined,
  ): Promise<Membership> {
    const token = member.accessToken ?? (await this.appTokens?.forOrg(org))?.token ?? '';
    const path = ['orgs', org, 'teams', team];
    const request = { signal };
    const response = await this.api.call([...path, 'memberships', member.login], token, request);
    if (response.status === 200) {
      return (await readJson(response, TEAM_MEMBERSHIP)).state;
    }
    if (response.status !== 404) {
      return 'unknown';
    }
    // An app sees every team: a missing one was renamed, so its answer is unknown.
    const isKnown =
      member.accessToken !== null || (await this.api.call(path, token, request)).status === 200;
    return isKnown ? 'none' : 'unknown';
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
  const { state, user } = await readJson(response, MEMBERSHIP);
  // A login can be reassigned between two calls: only the numeric id identifies the member.
  if (String(user.id) !== subject) {
    return 'unknown';
  }
  if (state === null) {
    throw new UpstreamError('unexpected_answer');
  }
  return state;
}
