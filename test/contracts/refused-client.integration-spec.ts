import { Runtime } from '../../src/common/runtime/runtime.js';
import { GitHubProvider } from '../../src/server/providers/github/github.provider.js';
import { RememberedOrganizationIds } from '../../src/server/providers/github/organization-ids.js';
import type {
  IdentityProvider,
  ProviderError,
} from '../../src/server/providers/identity-provider.js';
import { OidcProvider } from '../../src/server/providers/oidc/oidc.provider.js';
import { upstreamFailureIn } from '../../src/server/providers/provider-failure.js';
import { APP_ID, APP_PRIVATE_KEY, FakeGitHub } from '../fakes/github.js';
import { FakeOpenIdProvider } from '../fakes/openid-provider.js';
import {
  authorizationRequest,
  gitHubSettings,
  oidcSettings,
  DIRECT,
  PATIENT_LIMITS,
  recheckSubject,
} from '../fixtures/provider-settings-fixture.js';

const WRONG = { clientSecret: 'the secret of last year' };
const signal = new AbortController().signal;

describe('a client secret that has expired', () => {
  let op: FakeOpenIdProvider;
  let gitHub: FakeGitHub;

  beforeAll(async () => {
    op = await FakeOpenIdProvider.start();
    gitHub = await FakeGitHub.start();
    gitHub.browser = gitHub.add({ id: 1, login: 'alice', orgs: { acme: 'active' } });
  });
  afterAll(() => Promise.all([op.close(), gitHub.close()]));

  const corp = (given = {}) =>
    new OidcProvider(oidcSettings(op.issuer, given), new Runtime(), DIRECT, PATIENT_LIMITS);
  const hub = (given = {}) =>
    new GitHubProvider(
      gitHubSettings(gitHub.url, given),
      new Runtime(),
      DIRECT,
      PATIENT_LIMITS,
      new RememberedOrganizationIds(),
    );

  async function failureOfLogin(
    provider: IdentityProvider,
    authorize: (url: URL) => Promise<URL>,
  ): Promise<unknown> {
    const request = authorizationRequest();
    const back = await authorize(await provider.authorizationUrl(request));
    return provider.exchange(back, request).catch((error: unknown) => error);
  }

  it.each<[string, () => IdentityProvider, () => (url: URL) => Promise<URL>]>([
    ['an OpenID provider', () => corp(WRONG), () => (url) => op.authorize(url)],
    ['GitHub', () => hub(WRONG), () => (url) => gitHub.authorize(url)],
  ])(
    'is reported as an upstream error to a person who logs in through %s',
    async (_who, make, browser) => {
      const error = (await failureOfLogin(make(), browser())) as ProviderError;
      expect(error).toMatchObject({ name: 'ProviderError', refusal: 'upstream_error' });
      expect(upstreamFailureIn(error)).toMatchObject({ failure: 'invalid_client' });
    },
  );

  it('leaves the eligibility of a person unknown', async () => {
    const subject = recheckSubject({ subject: 'person-1', credentials: 'a-refresh-token' });
    expect(await corp(WRONG).recheck(subject, signal)).toEqual({
      ...{ outcome: 'unknown', reason: 'invalid_client', detail: 'invalid_client' },
      retryAfterMs: 60_000,
    });
  });

  it('is found by a diagnosis, without a login', async () => {
    const severities = async (provider: OidcProvider | GitHubProvider): Promise<string[]> =>
      (await provider.diagnose()).map(({ step, severity }) => `${step} ${severity}`);
    const found = ['discovery ok', 'keys ok'];
    expect(await severities(corp())).toEqual([...found, 'client ok', 'refresh-token ok']);
    expect(await severities(corp(WRONG))).toEqual([...found, 'client error', 'refresh-token ok']);
    expect(await severities(hub())).toEqual(['client ok']);
    expect(await severities(hub(WRONG))).toEqual(['client error']);
    const app = { id: APP_ID, privateKey: APP_PRIVATE_KEY, installationIdByOrg: {} };
    const byApp = { orgMembershipSource: 'github_app', app } as const;
    expect(await severities(hub(byApp))).toEqual(['client ok', 'app ok']);
    const elsewhere = { ...byApp, allowedOrgs: ['globex'] };
    expect(await severities(hub(elsewhere))).toEqual(['client ok', 'app error']);
  });

  it('is distinguished from scopes that give no refresh token', async () => {
    op.breakage = {
      discovery: (document) => ({ ...document, scopes_supported: ['openid', 'offline_access'] }),
    };
    const warned = await corp().diagnose();
    expect(warned.at(-1)).toMatchObject({ step: 'refresh-token', severity: 'warning' });
    const diagnosis = await corp({ scopes: ['openid', 'offline_access'] }).diagnose();
    expect(diagnosis.at(-1)).toMatchObject({ severity: 'ok' });
    expect(await corp({ storeRefreshToken: false }).diagnose()).toHaveLength(3);
  });
});
