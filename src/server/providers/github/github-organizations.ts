import { Logger } from '@nestjs/common';
import type { Membership } from '../../../core/policy/eligibility/eligibility.js';
import type { GitHubApi, GitHubOrganization } from './github-api.js';
import type { OrganizationIds } from './organization-ids.js';

/** The membership in the organisation that has a name at the moment. */
export interface NamedMembership {
  readonly membership: Membership;
  /** The organisation that the answer is about; null = it names none. */
  readonly organization: GitHubOrganization | null;
}

interface FoundMembership {
  readonly membership: Membership;
  /** The current name. */
  readonly name: string;
}

/** @returns null for an entry of the rules with a name */
export function idIn(org: string): string | null {
  return /^id:(\d+)$/.exec(org)?.[1] ?? null;
}

/** Finds organisations by their ids: a name that one gave up can be taken by another one. */
export class GitHubOrganizations {
  private readonly logger = new Logger('GitHub');
  /** The current names, by id. */
  private readonly names = new Map<string, string>();

  constructor(
    private readonly api: GitHubApi,
    private readonly ids: OrganizationIds,
  ) {}

  /** @returns null for a name that was never seen */
  async idOf(org: string): Promise<string | null> {
    return idIn(org) ?? this.ids.find(org);
  }

  /** Returns true if the organisation is the one of the rules, whose id is kept from then on. */
  async isMeant(org: string, { id, name }: GitHubOrganization): Promise<boolean> {
    const known = (await this.idOf(org)) ?? (name === org ? await this.ids.keep(org, id) : null);
    if (known !== id) {
      return false;
    }
    const before = this.names.get(id) ?? (idIn(org) === null ? org : name);
    if (before !== name) {
      const msg = `an organisation was renamed: write id:${id} in AUTH_GITHUB_ALLOWED_ORGS`;
      this.logger.warn({ msg, organization: org, name });
    }
    this.names.set(id, name);
    return true;
  }

  /**
   * Asks by the last known name, and once more if that is no longer the name of the organisation.
   * @returns null when GitHub shows no organisation with the id
   */
  async membership(
    org: string,
    token: string,
    ask: (name: string) => Promise<NamedMembership>,
    signal?: AbortSignal,
  ): Promise<FoundMembership | null> {
    const id = await this.idOf(org);
    const last = this.names.get(id ?? '') ?? (idIn(org) === null ? org : null);
    const answer = last === null ? null : await this.confirmed(org, last, token, ask, signal);
    if (answer !== null || id === null) {
      return answer;
    }
    const found = await this.api.organization(['organizations', id], token, signal);
    return found === null ? null : this.confirmed(org, found.name, token, ask, signal);
  }

  /** A definite answer counts only with the id of the organisation that it is about. */
  private async confirmed(
    org: string,
    name: string,
    token: string,
    ask: (name: string) => Promise<NamedMembership>,
    signal: AbortSignal | undefined,
  ): Promise<FoundMembership | null> {
    const { membership, organization } = await ask(name);
    if (membership === 'unknown') {
      return { membership, name };
    }
    const about = organization ?? (await this.api.organization(['orgs', name], token, signal));
    return about !== null && (await this.isMeant(org, about)) ? { membership, name } : null;
  }
}
