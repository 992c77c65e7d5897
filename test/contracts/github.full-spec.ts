import { Runtime } from '../../src/common/runtime/runtime.js';
import type { GitHubProviderSettings } from '../../src/server/config/providers-file/provider-settings.js';
import { judgeEligibility } from '../../src/core/policy/eligibility/eligibility.js';
import { GitHubProvider } from '../../src/server/providers/github/github.provider.js';
import { RememberedOrganizationIds } from '../../src/server/providers/github/organization-ids.js';
import type { Exchange, Recheck } from '../../src/server/providers/identity-provider.js';
import { capabilitiesOf } from '../../src/core/policy/eligibility/provider-rules.js';
import { MovedClock } from '../fixtures/moved-clock.js';
import { APP_ID, APP_PRIVATE_KEY, FakeGitHub, type FakePerson } from '../fakes/github.js';
import {
  authorizationRequest,
  gitHubSettings,
  DIRECT,
  PATIENT_LIMITS,
  recheckSubject,
} from '../fixtures/provider-settings-fixture.js';

const BY_APP: Partial<GitHubProviderSettings> = {
  orgMembershipSource: 'github_app',
  app: { id: APP_ID, privateKey: APP_PRIVATE_KEY, installationIdByOrg: {} },
};

describe(GitHubProvider, () => {
  let gitHub: FakeGitHub;
  let alice: FakePerson;
  let clock: MovedClock;
  let ids: RememberedOrganizationIds;

  beforeEach(async () => {
    ids = new RememberedOrganizationIds();
    gitHub = await FakeGitHub.start();
    alice = gitHub.add({ id: 1, login: 'alice', orgs: { acme: 'active' } });
    gitHub.browser = alice;
    clock = new MovedClock();
  });

  afterEach(() => gitHub.close());

  const providerWith = (given: Partial<GitHubProviderSettings> = {}): GitHubProvider =>
    new GitHubProvider(
      gitHubSettings(gitHub.url, given),
      new Runtime(clock),
      DIRECT,
      PATIENT_LIMITS,
      ids,
    );

  async function logIn(provider: GitHubProvider): Promise<Exchange> {
    const request = authorizationRequest();
    const url = await provider.authorizationUrl(request);
    return provider.exchange(await gitHub.authorize(url), request);
  }

  async function recheck(provider: GitHubProvider, { profile, credentials }: Exchange) {
    const subject = recheckSubject({ subject: profile.subject, login: 'alice', credentials });
    const answer = await provider.recheck(subject, new AbortController().signal);
    return { answer, saved: subject.saved };
  }

  function verdictOf(answer: Recheck, given: Partial<GitHubProviderSettings> = {}): string {
    const rules = capabilitiesOf(gitHubSettings(gitHub.url, given)).rules;
    return answer.outcome === 'profile'
      ? judgeEligibility(rules, answer.profile).status
      : answer.outcome;
  }

  it.each([
    ['the token of the user', {}],
    ['a GitHub App', BY_APP],
  ])('identifies people by the numeric id when a login changes, with %s', async (_name, given) => {
    const provider = providerWith(given);
    const exchange = await logIn(provider);
    expect(exchange.profile.subject).toBe('1');
    alice.login = 'alice-renamed';
    const { answer } = await recheck(provider, exchange);
    expect(answer).toMatchObject({ profile: { subject: '1', facts: { login: 'alice-renamed' } } });
    expect(verdictOf(answer)).toBe('eligible');
  });

  it.each(['a\0b', 'a\ud800', 'a'.repeat(256), '\u202eecila'])(
    'refuses an answer with the login %j, and reads the next one',
    async (login) => {
      const provider = providerWith();
      const exchange = await logIn(provider);
      alice.login = login;
      const { answer } = await recheck(provider, exchange);
      expect(answer).toEqual({ outcome: 'unknown', reason: 'unexpected_answer' });
      await expect(logIn(provider)).rejects.toMatchObject({ refusal: 'upstream_error' });
      alice.login = 'alice';
      expect(verdictOf((await recheck(provider, exchange)).answer)).toBe('eligible');
    },
  );

  it('ignores the membership of a person who re-registered a login', async () => {
    const provider = providerWith(BY_APP);
    const exchange = await logIn(provider);
    alice.login = 'alice-renamed';
    delete alice.orgs['acme'];
    gitHub.add({ id: 2, login: 'alice', orgs: { acme: 'active' } });
    expect(verdictOf((await recheck(provider, exchange)).answer)).toBe('ineligible');
    gitHub.people.shift();
    expect((await recheck(provider, exchange)).answer).toMatchObject({ outcome: 'gone' });
  });

  it('ignores a membership when the login changed its owner between two calls', async () => {
    const provider = providerWith(BY_APP);
    const exchange = await logIn(provider);
    gitHub.people.unshift({ id: 2, login: 'alice', orgs: { acme: 'active' } });
    expect(verdictOf((await recheck(provider, exchange)).answer)).toBe('unknown');
  });

  it('keeps no token of the person where an app reads the memberships, and requests no scope', async () => {
    const byApp = providerWith(BY_APP);
    expect((await logIn(byApp)).credentials).toBeNull();
    const url = await byApp.authorizationUrl(authorizationRequest());
    expect(url.searchParams.has('scope')).toBe(false);
    const byPerson = await providerWith().authorizationUrl(authorizationRequest());
    expect(byPerson.searchParams.get('scope')).toBe('read:org');
  });

  it('reports when to retry after a rate limit', async () => {
    const provider = providerWith();
    const exchange = await logIn(provider);
    gitHub.faults.set('*', 'rate-limited');
    const { answer } = await recheck(provider, exchange);
    expect(answer).toMatchObject({ outcome: 'unknown', reason: 'rate_limited' });
    expect('retryAfterMs' in answer && answer.retryAfterMs).toBeGreaterThan(60_000);
  });

  it('treats a refused token as revoked only when GitHub confirms it to the application', async () => {
    const provider = providerWith();
    const exchange = await logIn(provider);
    gitHub.faults.set('/user', 'unauthorized');
    expect((await recheck(provider, exchange)).answer).toEqual({
      outcome: 'unknown',
      reason: 'token_refused',
    });
    gitHub.faults.clear();
    gitHub.userTokens.clear();
    expect((await recheck(provider, exchange)).answer).toEqual({
      outcome: 'gone',
      reason: 'token_revoked',
    });
  });

  it('renews an expiring token once, and saves the new one', async () => {
    gitHub.userTokenLifetime = 600;
    const provider = providerWith();
    const exchange = await logIn(provider);
    expect((await recheck(provider, exchange)).saved).toEqual([]);
    clock.aheadMs = 595_000;
    const { answer, saved } = await recheck(provider, exchange);
    expect(verdictOf(answer)).toBe('eligible');
    expect(saved).toHaveLength(1);
    const renewed = { ...exchange, credentials: saved[0] ?? null };
    gitHub.refreshTokens.clear();
    clock.aheadMs = 0;
    expect((await recheck(provider, renewed)).answer).toMatchObject({ outcome: 'profile' });
    expect(
      (await recheck(provider, { ...renewed, credentials: expired(saved[0]) })).answer,
    ).toEqual({ outcome: 'gone', reason: 'bad_refresh_token' });
  });

  it('reports a failure to save the new token', async () => {
    gitHub.userTokenLifetime = 1;
    const provider = providerWith();
    const { credentials } = await logIn(provider);
    const saveCredentials = () => Promise.reject(new Error('storage is down'));
    const subject = recheckSubject({ subject: '1', credentials, saveCredentials });
    await expect(provider.recheck(subject, new AbortController().signal)).rejects.toThrow(
      'storage is down',
    );
  });

  it('reuses and renews the token of an installation, with one request at a time', async () => {
    const provider = providerWith(BY_APP);
    const exchange = await logIn(provider);
    await Promise.all(Array.from({ length: 5 }, () => recheck(provider, exchange)));
    const minted = () => gitHub.requests.filter((path) => path.endsWith('/access_tokens')).length;
    expect(minted()).toBe(1);
    gitHub.installationTokenLifetimeMs = 4 * 60_000;
    await recheck(providerWith(BY_APP), exchange);
    // The second of its two requests gets a token that is about to expire.
    expect(minted()).toBe(3);
  });

  it('reports unknown when the app is not installed, or installed elsewhere', async () => {
    const exchange = await logIn(providerWith(BY_APP));
    gitHub.installedIn = 'other';
    const { answer } = await recheck(providerWith(BY_APP), exchange);
    expect(answer).toMatchObject({ outcome: 'unknown' });
    const elsewhere = {
      ...BY_APP,
      allowedOrgs: ['other'],
      app: { id: APP_ID, privateKey: APP_PRIVATE_KEY, installationIdByOrg: { other: '99' } },
    };
    gitHub.installedIn = 'acme';
    const other = await recheck(providerWith(elsewhere), exchange);
    expect(other.answer).toMatchObject({ outcome: 'unknown' });
  });

  it('requests no more organisations than it needs', async () => {
    const given = { allowedOrgs: ['acme', 'other'] };
    const { answer } = await recheck(providerWith(given), await logIn(providerWith(given)));
    expect(verdictOf(answer, given)).toBe('eligible');
    expect(gitHub.requests.join()).not.toContain('orgs/other');
    const all = { ...given, orgMatch: 'all' as const };
    const strict = await recheck(providerWith(all), await logIn(providerWith(all)));
    expect(verdictOf(strict.answer, all)).toBe('ineligible');
  });

  it.each([
    ['the token of the user', {}],
    ['a GitHub App', BY_APP],
  ])('ends the access of a person suspended by an Enterprise Server, with %s', async (_, given) => {
    const provider = providerWith(given);
    const exchange = await logIn(provider);
    alice.suspendedAt = '2026-01-31T12:00:00Z';
    const suspended = { outcome: 'gone', reason: 'account_suspended' };
    expect((await recheck(provider, exchange)).answer).toEqual(suspended);
    await expect(logIn(provider)).rejects.toMatchObject({ refusal: 'access_denied' });
    delete alice.suspendedAt;
    expect(verdictOf((await recheck(provider, exchange)).answer, given)).toBe('eligible');
  });

  it('ends the access of a person whose own token is refused because of a suspension', async () => {
    const provider = providerWith();
    const exchange = await logIn(provider);
    gitHub.faults.set('/user', 'suspended');
    expect((await recheck(provider, exchange)).answer).toEqual({
      ...{ outcome: 'gone', reason: 'account_suspended' },
    });
    gitHub.faults.set('/user', 'forbidden');
    expect((await recheck(provider, exchange)).answer).toMatchObject({ outcome: 'unknown' });
    // The answer to an app is about the app.
    const byApp = providerWith(BY_APP);
    gitHub.faults.clear();
    gitHub.faults.set('/user/1', 'suspended');
    expect((await recheck(byApp, exchange)).answer).toMatchObject({ outcome: 'unknown' });
  });

  describe.each([
    ['the token of the user', {}],
    ['a GitHub App', BY_APP],
  ])('an organisation of the rules, with %s', (_name, given) => {
    const verdict = async (
      provider: GitHubProvider,
      exchange: Exchange,
      settings: Partial<GitHubProviderSettings> = given,
    ): Promise<string> => verdictOf((await recheck(provider, exchange)).answer, settings);
    const logInAs = (provider: GitHubProvider, person: FakePerson): Promise<Exchange> => {
      gitHub.browser = person;
      return logIn(provider);
    };
    const statusOf = ({ profile }: Exchange): string =>
      judgeEligibility(capabilitiesOf(gitHubSettings(gitHub.url, given)).rules, profile).status;

    it('stays the same one when it is renamed', async () => {
      const provider = providerWith(given);
      const exchange = await logIn(provider);
      gitHub.renameOrganization('acme', 'acme-inc');
      expect(await verdict(provider, exchange)).toBe('eligible');
      // Another process has no name in its memory.
      expect(await verdict(providerWith(given), exchange)).toBe('eligible');
      expect(statusOf(await logIn(providerWith(given)))).toBe('eligible');
      delete alice.orgs['acme-inc'];
      expect(await verdict(provider, exchange)).toBe('ineligible');
    });

    it('does not become the one of a stranger who takes its name', async () => {
      const provider = providerWith(given);
      const exchange = await logIn(provider);
      gitHub.renameOrganization('acme', 'acme-inc');
      gitHub.organizations.set('acme', 6666);
      const stranger = gitHub.add({ id: 2, login: 'mallory', orgs: { acme: 'active' } });
      for (const one of [provider, providerWith(given)]) {
        expect(statusOf(await logInAs(one, stranger))).toBe('ineligible');
        expect(await verdict(one, exchange)).toBe('eligible');
      }
    });

    it('can be listed by its id, with teams', async () => {
      gitHub.teams.set('acme/platform', 'closed');
      const teams = { 'acme/platform': 'active' } as const;
      const member = gitHub.add({ id: 3, login: 'tess', orgs: { acme: 'active' }, teams });
      for (const org of ['id:9001', 'id:9001/platform']) {
        const settings = { ...given, allowedOrgs: [org] };
        const provider = providerWith(settings);
        const exchange = await logInAs(provider, member);
        expect(await verdict(provider, exchange, settings)).toBe('eligible');
        gitHub.renameOrganization('acme', 'acme-inc');
        expect(await verdict(provider, exchange, settings)).toBe('eligible');
        gitHub.renameOrganization('acme-inc', 'acme');
        expect(await verdict(provider, exchange, settings)).toBe('eligible');
      }
      const settings = { ...given, allowedOrgs: ['id:9002'] };
      const exchange = await logInAs(providerWith(given), member);
      expect(await verdict(providerWith(settings), exchange, settings)).not.toBe('eligible');
    });
  });

  it('reports to the operator an organisation that GitHub does not show', async () => {
    const provider = providerWith();
    const exchange = await logIn(provider);
    delete alice.orgs['acme'];
    gitHub.organizations.delete('acme');
    const missing = { outcome: 'unknown', reason: 'organization_missing', detail: 'acme' };
    expect((await recheck(provider, exchange)).answer).toEqual(missing);
    await expect(logIn(provider)).rejects.toMatchObject({ refusal: 'upstream_error' });
    const any = { allowedOrgs: ['acme', 'other'] };
    expect((await recheck(providerWith(any), exchange)).answer).toEqual(missing);
    alice.orgs['other'] = 'active';
    expect(verdictOf((await recheck(providerWith(any), exchange)).answer, any)).toBe('eligible');
    const all = { ...any, orgMatch: 'all' as const };
    expect((await recheck(providerWith(all), exchange)).answer).toEqual(missing);
    delete alice.orgs['other'];
    expect(verdictOf((await recheck(providerWith(all), exchange)).answer, all)).toBe('ineligible');
  });

  it('re-checks with the token of the person where no organisation is required', async () => {
    const given = { ...BY_APP, allowedOrgs: [], allowedUsers: ['alice'] };
    const provider = providerWith(given);
    const exchange = await logIn(provider);
    alice.login = 'mallory';
    expect(verdictOf((await recheck(provider, exchange)).answer, given)).toBe('ineligible');
  });

  describe.each([
    ['the token of the user', {}],
    ['a GitHub App', BY_APP],
  ])('a required team, with %s', (_name, given) => {
    const TEAM = { ...given, allowedOrgs: ['acme/platform'] };
    const verdictWith = async (more: Partial<GitHubProviderSettings> = {}): Promise<string> => {
      const settings = { ...TEAM, ...more };
      const provider = providerWith(settings);
      return verdictOf((await recheck(provider, await logIn(provider))).answer, settings);
    };
    const inTeam = (state?: 'active' | 'pending'): FakePerson => {
      gitHub.people.length = 0;
      const teams: FakePerson['teams'] = state === undefined ? {} : { 'acme/platform': state };
      gitHub.browser = gitHub.add({ id: 1, login: 'alice', orgs: { acme: 'active' }, teams });
      return gitHub.browser;
    };

    it.each(['closed', 'secret'] as const)(
      'admits its active members only: %s',
      async (privacy) => {
        gitHub.teams.set('acme/platform', privacy);
        inTeam('active');
        expect(await verdictWith()).toBe('eligible');
        inTeam('pending');
        expect(await verdictWith()).toBe('ineligible');
        inTeam();
        expect(await verdictWith()).toBe('ineligible');
      },
    );

    it('ignores a team of an organisation that the person left', async () => {
      gitHub.teams.set('acme/platform', 'closed');
      delete inTeam('active').orgs['acme'];
      expect(await verdictWith()).toBe('ineligible');
      expect(gitHub.requests.filter((path) => path.includes('/teams/'))).toEqual([]);
    });

    it('requires one of the entries, or all of them', async () => {
      gitHub.teams.set('acme/platform', 'closed');
      inTeam();
      const allowedOrgs = ['acme/platform', 'acme'];
      expect(await verdictWith({ allowedOrgs })).toBe('eligible');
      expect(await verdictWith({ allowedOrgs, orgMatch: 'all' })).toBe('ineligible');
      inTeam('active');
      expect(await verdictWith({ allowedOrgs, orgMatch: 'all' })).toBe('eligible');
    });

    it('reports unknown while the team does not answer', async () => {
      gitHub.teams.set('acme/platform', 'closed');
      inTeam('active');
      gitHub.faults.set('/orgs/acme/teams/platform/memberships/alice', 'forbidden');
      expect(await verdictWith()).toBe('unknown');
    });
  });

  it('reports unknown for a team that an app can no longer find', async () => {
    const settings = { ...BY_APP, allowedOrgs: ['acme/renamed'] };
    const provider = providerWith(settings);
    const { answer } = await recheck(provider, await logIn(provider));
    expect(verdictOf(answer, settings)).toBe('unknown');
  });
});

function expired(credentials: string | undefined): string {
  return JSON.stringify({ ...(JSON.parse(credentials ?? '') as object), expiresAt: 1 });
}
