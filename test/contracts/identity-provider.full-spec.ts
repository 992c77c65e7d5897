import { Runtime } from '../../src/common/runtime/runtime.js';
import type { GitHubProviderSettings } from '../../src/server/config/providers-file/provider-settings.js';
import { GitHubProvider } from '../../src/server/providers/github/github.provider.js';
import { RememberedOrganizationIds } from '../../src/server/providers/github/organization-ids.js';
import { OidcProvider } from '../../src/server/providers/oidc/oidc.provider.js';
import { capabilitiesOf } from '../../src/core/policy/eligibility/provider-rules.js';
import { FakeGoogleWorkspace } from '../fakes/google-workspace.js';
import { APP_ID, APP_PRIVATE_KEY, FakeGitHub, INSTALLATION_ID } from '../fakes/github.js';
import { FakeOpenIdProvider } from '../fakes/openid-provider.js';
import {
  gitHubSettings,
  DIRECT,
  HASTY_LIMITS,
  oidcSettings,
  PATIENT_LIMITS,
} from '../fixtures/provider-settings-fixture.js';
import { describeIdentityProvider, type ProviderHarness } from './identity-provider.contract.js';

async function openId(): Promise<ProviderHarness> {
  const op = await FakeOpenIdProvider.start();
  const allow = { usersAllowlist: [], emailDomains: [], groupsAny: ['staff'], groupsAll: [] };
  const settings = oidcSettings(op.issuer, { allow });
  return {
    provider: new OidcProvider(settings, new Runtime(), DIRECT, PATIENT_LIMITS),
    hasty: new OidcProvider(
      { ...settings, httpTimeoutSeconds: 1 },
      new Runtime(),
      DIRECT,
      HASTY_LIMITS,
    ),
    rules: capabilitiesOf(settings).rules,
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

async function googleWorkspace(): Promise<ProviderHarness> {
  const op = await FakeOpenIdProvider.start();
  const google = await FakeGoogleWorkspace.start();
  google.users.set('1001', { primaryEmail: 'alice@acme.example' });
  op.person = { sub: '1001', email: 'alice@acme.example', email_verified: true };
  const settings = oidcSettings(op.issuer, {
    allow: {
      usersAllowlist: [],
      emailDomains: ['acme.example'],
      groupsAny: ['staff@acme.example'],
      groupsAll: [],
    },
    storeRefreshToken: false,
    googleWorkspaceGroups: google.settings,
  });
  const hasty = { ...settings, httpTimeoutSeconds: 1 };
  return {
    provider: new OidcProvider(settings, new Runtime(), DIRECT, PATIENT_LIMITS),
    hasty: new OidcProvider(hasty, new Runtime(), DIRECT, HASTY_LIMITS),
    rules: capabilitiesOf(settings).rules,
    authorize: (url) => op.authorize(url),
    setMembership: (state) => {
      const groups = {
        member: ['Staff@Acme.example'],
        none: [],
        pending: ['invited@acme.example'],
      };
      google.setGroups('1001', ...groups[state]);
    },
    revoke: () => google.users.delete('1001'),
    setFault: (fault) => (fault === null ? google.faults.clear() : google.faults.set('*', fault)),
    disempower: () => {
      google.isAdminAuthorized = false;
    },
    rotateKeys: async () => {
      await op.rotateKeys();
      google.forgetTokens();
    },
    close: async () => {
      await op.close();
      await google.close();
    },
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
  const ids = new RememberedOrganizationIds();
  return {
    provider: new GitHubProvider(settings, new Runtime(), DIRECT, PATIENT_LIMITS, ids),
    hasty: new GitHubProvider(settings, new Runtime(), DIRECT, HASTY_LIMITS, ids),
    rules: capabilitiesOf(settings).rules,
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

describeIdentityProvider('OpenID Connect with groups of Google Workspace', googleWorkspace);

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
