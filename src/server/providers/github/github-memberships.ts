import * as v from 'valibot';
import type { GitHubProviderSettings } from '../../config/providers-file/provider-settings.js';
import type { Membership } from '../../../core/policy/eligibility/eligibility.js';
import { readJson, UpstreamError } from '../http/upstream-http.js';
import { ORGANIZATION, type GitHubApi, type GitHubUser } from './github-api.js';
import type { GitHubOrganizations, NamedMembership } from './github-organizations.js';
import type { GitHubAppTokens } from './github-tokens.js';

interface GitHubMember extends GitHubUser {
  /** The user's own token; null when memberships are read by a GitHub App. */
  readonly accessToken: string | null;
}

interface OrgMembership {
  readonly membership: Membership;
  /** The current name, and the token that reads its teams. */
  readonly name: string;
  readonly token: string;
  /** True if GitHub shows no organisation with the id. */
  readonly isMissing?: boolean;
}

const UNKNOWN: OrgMembership = { membership: 'unknown', name: '', token: '' };

/** Scopes of an OAuth token that show memberships. */
const ORG_SCOPES = ['read:org', 'write:org', 'admin:org'];

function seesOrgs({ headers }: Response): boolean {
  const scopes = (headers.get('x-oauth-scopes') ?? '').split(/\s*,\s*/);
  return scopes.some((scope) => ORG_SCOPES.includes(scope));
}

const MEMBERSHIP = v.object({
  state: v.fallback(v.nullable(v.picklist(['active', 'pending'])), null),
  user: v.fallback(v.object({ id: v.number() }), { id: 0 }),
  organization: v.fallback(v.nullable(ORGANIZATION), null),
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
    private readonly organizations: GitHubOrganizations,
    /** null = memberships are read with the user's own token. */
    private readonly appTokens: GitHubAppTokens | null,
  ) {}

  /**
   * @returns memberships by entry, in lower case; one is enough for `any`
   * @throws UpstreamError `organization_missing` where the verdict depends on an organisation that
   * GitHub does not show
   */
  async of(member: GitHubMember, signal?: AbortSignal): Promise<Record<string, Membership>> {
    const found: Record<string, Membership> = {};
    const inOrgs = new Map<string, OrgMembership>();
    for (const entry of this.rules.allowedOrgs) {
      const { org, team } = readOrgEntry(entry);
      const inOrg = inOrgs.get(org) ?? (await this.inOrg(org, member, signal));
      inOrgs.set(org, inOrg);
      // The answer about a team has no numeric id, so it counts only with that of the organisation.
      const readsTeam = team !== null && inOrg.membership === 'active';
      found[entry] = readsTeam ? await this.inTeam(inOrg, team, member, signal) : inOrg.membership;
      if (found[entry] === 'active' && this.rules.orgMatch === 'any') {
        return found;
      }
    }
    const missing = [...inOrgs].find(([, { isMissing }]) => isMissing === true);
    const isRefused = Object.values(found).some((one) => one === 'none' || one === 'pending');
    if (missing !== undefined && !(isRefused && this.rules.orgMatch === 'all')) {
      throw new UpstreamError('organization_missing', { detail: missing[0] });
    }
    return found;
  }

  private async inOrg(
    org: string,
    member: GitHubMember,
    signal: AbortSignal | undefined,
  ): Promise<OrgMembership> {
    const app = (await this.appTokens?.forOrg(org)) ?? null;
    const token = member.accessToken ?? app?.token;
    if (token === undefined) {
      return UNKNOWN;
    }
    const ask = async (name: string): Promise<NamedMembership> => {
      const path =
        app === null
          ? ['user', 'memberships', 'orgs', name]
          : ['orgs', name, 'memberships', member.login];
      const response = await this.api.call(path, app?.token ?? token, { signal });
      if (app !== null && response.status === 401) {
        this.appTokens?.forget(org);
      }
      return membershipIn(response, member, app === null ? seesOrgs(response) : app.readsMembers);
    };
    const found = await this.organizations.membership(org, token, ask, signal);
    return found === null ? { ...UNKNOWN, isMissing: true } : { ...found, token };
  }

  /** Members of child teams count. The token of a member shows their own secret teams. */
  private async inTeam(
    { name, token }: OrgMembership,
    team: string,
    member: GitHubMember,
    signal: AbortSignal | undefined,
  ): Promise<Membership> {
    const path = ['orgs', name, 'teams', team];
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
): Promise<NamedMembership> {
  if (response.status === 404) {
    return { membership: seesMembers ? 'none' : 'unknown', organization: null };
  }
  if (response.status !== 200) {
    return { membership: 'unknown', organization: null };
  }
  const { state, user, organization } = await readJson(response, MEMBERSHIP);
  // A login can be reassigned between two calls: only the numeric id identifies the member.
  if (String(user.id) !== subject) {
    return { membership: 'unknown', organization };
  }
  if (state === null) {
    throw new UpstreamError('unexpected_answer');
  }
  return { membership: state, organization };
}
