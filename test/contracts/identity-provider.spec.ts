import { Clock } from '../../src/common/clock.js';
import type { GitHubProviderSettings } from '../../src/config/providers.config.js';
import { GitHubProvider } from '../../src/providers/github/github.provider.js';
import { OidcProvider } from '../../src/providers/oidc/oidc.provider.js';
import { eligibilityRulesOf } from '../../src/policy/eligibility/provider-rules.js';
import { APP_ID, APP_PRIVATE_KEY, FakeGitHub, INSTALLATION_ID } from '../fakes/github.js';
import { FakeOpenIdProvider } from '../fakes/openid-provider.js';
import {
  gitHubSettings,
  DIRECT,
  HASTY_LIMITS,
  oidcSettings,
  PATIENT_LIMITS,
} from '../fakes/provider-settings.js';
import { describeIdentityProvider, type ProviderHarness } from './identity-provider.contract.js';

async function openId(): Promise<ProviderHarness> {
  const op = await FakeOpenIdProvider.start();
  const allow = { usersAllowlist: [], emailDomains: [], groupsAny: ['staff'], groupsAll: [] };
  const settings = oidcSettings(op.issuer, { allow });
  return {
    provider: new OidcProvider(settings, new Clock(), DIRECT, PATIENT_LIMITS),
    hasty: new OidcProvider(
      { ...settings, httpTimeoutSeconds: 1 },
      new Clock(),
      DIRECT,
      HASTY_LIMITS,
    ),
    rules: eligibilityRulesOf(settings),
    authorize: (url) => op.authorize(url),
    setMembership: (state) => {
      const groups = { member: ['staff'], none: [], pending: ['staff-invited'] }[state];
      op.person = { ...op.person, groups };
    },
    revoke: () => {
      op.isRevoked = true;
    },
    setFault: (fault) => (fault === null ? op.faults.clear() : op.faults.set('/token', fault)),
    disempower: null,
    rotateKeys: () => op.rotateKeys(),
    close: () => op.close(),
  };
}

async function gitHub(
  given: Partial<GitHubProviderSettings>,
  own: (gitHub: FakeGitHub) => Pick<ProviderHarness, 'revoke' | 'disempower'>,
): Promise<ProviderHarness> {
  const fake = await FakeGitHub.start();
  const person = fake.add({ id: 1, login: 'Alice', orgs: {} });
  fake.browser = person;
  const settings = gitHubSettings(fake.url, given);
  return {
    provider: new GitHubProvider(settings, new Clock(), DIRECT, PATIENT_LIMITS),
    hasty: new GitHubProvider(settings, new Clock(), DIRECT, HASTY_LIMITS),
    rules: eligibilityRulesOf(settings),
    authorize: (url) => fake.authorize(url),
    setMembership: (state) => {
      delete person.orgs['acme'];
      if (state !== 'none') {
        person.orgs['acme'] = state === 'member' ? 'active' : 'pending';
      }
    },
    setFault: (fault) => (fault === null ? fake.faults.clear() : fake.faults.set('*', fault)),
    rotateKeys: () => Promise.resolve(fake.forgetInstallationTokens()),
    close: () => fake.close(),
    ...own(fake),
  };
}

const app = { id: APP_ID, privateKey: APP_PRIVATE_KEY, installationIdByOrg: {} };

describeIdentityProvider('OpenID Connect', openId);

describeIdentityProvider('GitHub with the token of the user', () =>
  gitHub({ orgMembershipSource: 'oauth_user_token' }, (fake) => ({
    revoke: () => fake.userTokens.clear(),
    disempower: () => {
      fake.userTokens.forEach((token) => (token.scopes = null));
    },
  })),
);

describeIdentityProvider('GitHub with a GitHub App', () =>
  gitHub({ orgMembershipSource: 'github_app', app }, (fake) => ({
    revoke: () => fake.people.splice(0),
    disempower: () => {
      fake.installationPermissions = {};
      fake.forgetInstallationTokens();
    },
  })),
);

describeIdentityProvider('GitHub with an App whose installation is configured', () =>
  gitHub(
    {
      orgMembershipSource: 'github_app',
      app: { ...app, installationIdByOrg: { acme: INSTALLATION_ID } },
    },
    (fake) => ({
      revoke: () => fake.people.splice(0),
      disempower: () => {
        fake.installationPermissions = {};
        fake.forgetInstallationTokens();
      },
    }),
  ),
);
