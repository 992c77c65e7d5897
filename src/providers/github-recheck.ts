import type { GitHubAppTokens } from './github-app-tokens.js';
import type { GitHubMemberships } from './github-memberships.js';
import type { GitHubLookup, GitHubPeople, GitHubPerson } from './github-people.js';
import {
  credentialsOf,
  GitHubGrantSpent,
  tokenOf,
  type GitHubUserToken,
  type GitHubUserTokens,
} from './github-token.js';
import type { ProviderProfile, Recheck, RecheckSubject } from './identity-provider.js';
import { unknownBecause } from './recheck-failure.js';

/** Asks GitHub again about one person, by the numeric id whatever the login is by now. */
export class GitHubRecheck {
  constructor(
    private readonly people: GitHubPeople,
    private readonly memberships: GitHubMemberships,
    private readonly userTokens: GitHubUserTokens,
  ) {}

  /** With the tokens of the app's installations. */
  async byApp(
    { subject }: RecheckSubject,
    orgs: readonly string[],
    tokens: GitHubAppTokens,
    signal: AbortSignal,
  ): Promise<Recheck> {
    try {
      const found = await this.seenByApp(subject, orgs, tokens, signal);
      if (typeof found !== 'string') {
        return await this.profileOf(found, subject, null, signal);
      }
      return found === 'absent'
        ? { outcome: 'gone', reason: 'account_not_found' }
        : { outcome: 'unknown', reason: 'app_without_permission' };
    } catch (error) {
      return unknownBecause(error);
    }
  }

  /** With the person's own token, renewed when it is about to expire. */
  async byPerson(subject: RecheckSubject, signal: AbortSignal): Promise<Recheck> {
    const kept = subject.credentials === null ? null : tokenOf(subject.credentials);
    if (kept === null) {
      return { outcome: 'unknown', reason: 'no_user_token' };
    }
    // Like every refresh it is not aborted: the answer may hold the only token that still works.
    const renewed = await this.renewed(kept);
    if ('outcome' in renewed) {
      return renewed;
    }
    if (renewed !== kept) {
      await subject.saveCredentials(credentialsOf(renewed));
    }
    try {
      return await this.askWith(renewed.accessToken, subject.subject, signal);
    } catch (error) {
      return unknownBecause(error);
    }
  }

  private async renewed(token: GitHubUserToken): Promise<GitHubUserToken | Recheck> {
    if (!this.userTokens.isExpiring(token)) {
      return token;
    }
    if (token.refreshToken === null) {
      return { outcome: 'unknown', reason: 'user_token_expired' };
    }
    try {
      const fresh = await this.userTokens.byRefreshToken(token.refreshToken);
      return { ...fresh, refreshToken: fresh.refreshToken ?? token.refreshToken };
    } catch (error) {
      return error instanceof GitHubGrantSpent
        ? { outcome: 'gone', reason: error.reason }
        : unknownBecause(error);
    }
  }

  private async askWith(
    accessToken: string,
    subject: string,
    signal: AbortSignal,
  ): Promise<Recheck> {
    const found = await this.people.byToken(accessToken, signal);
    if (typeof found !== 'string') {
      return this.profileOf(found, subject, accessToken, signal);
    }
    return found === 'unknown_token' && (await this.userTokens.isRevoked(accessToken))
      ? { outcome: 'gone', reason: 'token_revoked' }
      : { outcome: 'unknown', reason: 'token_refused' };
  }

  private async profileOf(
    person: GitHubPerson,
    subject: string,
    accessToken: string | null,
    signal: AbortSignal,
  ): Promise<Recheck> {
    if (person.subject !== subject) {
      return { outcome: 'unknown', reason: 'subject_mismatch' };
    }
    const memberships = await this.memberships.of({ ...person, accessToken }, signal);
    return { outcome: 'profile', profile: gitHubProfile(person, memberships) };
  }

  /**
   * The person as any of the installations sees them: managed users are hidden from the installations
   * of other enterprises, so that nobody is gone before all of them have looked.
   */
  private async seenByApp(
    subject: string,
    orgs: readonly string[],
    tokens: GitHubAppTokens,
    signal: AbortSignal,
  ): Promise<GitHubLookup> {
    let verdict: 'absent' | 'unknown_token' = 'absent';
    for (const org of orgs) {
      const token = await tokens.forOrg(org);
      const found =
        token === null ? 'unknown_token' : await this.people.byId(subject, token.token, signal);
      if (typeof found !== 'string') {
        return found;
      }
      if (found === 'unknown_token') {
        tokens.forget(org);
      }
      if (found === 'unknown_token' || token?.readsMembers !== true) {
        verdict = 'unknown_token';
      }
    }
    return verdict;
  }
}

/** GitHub is asked for no e-mail address and has no groups. */
export function gitHubProfile(
  { subject, login }: GitHubPerson,
  memberships: ProviderProfile['facts']['memberships'],
): ProviderProfile {
  const facts = { login, email: null, emailVerified: false, groups: null, memberships };
  return { subject, facts };
}
