import { GITHUB, okta, policyWith, relay } from '../../../../test/fixtures/policy-fixture.js';
import { describePolicy } from './describe-policy.js';

describe('describePolicy', () => {
  it('describes the default server', () => {
    expect(describePolicy(policyWith())).toEqual([
      'Anyone who can reach this server can create an account.',
      'An existing account signs in with its device key, signing a challenge of this server.',
      'No identity provider is required to use the server.',
      'Eligibility is not checked again after an identity is linked.',
      'Ended access is refused on every replica within 7 seconds, whatever fails; with Redis usually at once.',
      'Only end-to-end encrypted content is stored; the server cannot read it.',
    ]);
  });

  it('describes a public server with a required provider', () => {
    expect(
      describePolicy(
        policyWith({
          auth: {
            anonymousSignupEnabled: false,
            signupProviders: ['okta', 'github', 'missing'],
            requiredLoginProviders: ['okta', 'github'],
            requireServerChallenge: true,
            offboarding: { enabled: true, intervalSeconds: 3600, strict: true },
          },
          providers: [okta(), GITHUB],
        }),
      ),
    ).toEqual([
      'A new device key is refused: anonymous sign-up is off.',
      'An account with device keys can be created through okta or github.',
      'An existing account signs in with its device key, signing a challenge of this server.',
      'To use the server, an account must be connected to okta and github and be eligible there.',
      'Anyone with an identity at okta is eligible there.',
      'Anyone with an identity at github is eligible there.',
      'Eligibility is checked again every hour.',
      'If a provider issues no refresh token, a sign-in lasts one interval; then the person must sign in again.',
      'While a provider is down, its identities are refused once their last good check is that old.',
      'Ended access is refused on every replica within 7 seconds, whatever fails; with Redis usually at once.',
      'Only end-to-end encrypted content is stored; the server cannot read it.',
    ]);
  });

  it('describes each allow rule of providers and certificates', () => {
    const allow = { usersAllowlist: ['email:jo@corp.example'], emailDomains: ['corp.example'] };
    const groups = { groupsAny: ['platform', 'sre'], groupsAll: ['staff'] };
    const scim = { match: 'email', required: true } as const;
    const github = { ...GITHUB, allowedOrgs: ['acme', 'acme/ops'] };
    const mtls = { enabled: true, allowedIssuers: ['Corp CA'], allowedEmailDomains: ['a.example'] };
    const providers = [okta({ allow: { ...allow, ...groups }, scim }), github];
    const sentences = describePolicy(policyWith({ providers, mtls }));
    expect(sentences.filter((one) => one.includes('eligible at'))).toEqual([
      'To be eligible at okta, a person must be one of: email:jo@corp.example.',
      'To be eligible at okta, a person must have an e-mail address of: corp.example.',
      'To be eligible at okta, a person must be in one of the groups: platform, sre.',
      'To be eligible at okta, a person must be in all of the groups: staff.',
      'To be eligible at okta, a person must be active in its directory.',
      'To be eligible at github, a person must be a member of one of the organisations: acme, acme/ops.',
      'To be eligible at mtls, a person must have a certificate of one of the issuers: Corp CA.',
      'To be eligible at mtls, a person must have an e-mail address of: a.example.',
    ]);
    const all = describePolicy(policyWith({ providers: [{ ...github, orgMatch: 'all' }] }));
    expect(all).toContainEqual(expect.stringContaining('all of the organisations: acme, acme/ops'));
  });

  it('describes each backend with its own rules', () => {
    const files = { id: 'files', name: 'Files', resource: 'https://files.example.com' };
    const strict = { ...files, requireProviders: ['okta'], allowKeyless: false };
    const sentences = describePolicy(policyWith({ resourceServers: [relay(), relay(strict)] }));
    expect(sentences.filter((one) => one.includes('tokens'))).toEqual([
      'Sessions can get tokens for Relay (https://relay.example.com).',
      'Sessions can get tokens for Files (https://files.example.com). For that, an account must also be connected to okta and be eligible there. It refuses accounts without device keys.',
    ]);
  });

  it('describes the use of invitations', () => {
    const auth = { anonymousSignupEnabled: false, signupInvitationsEnabled: true };
    expect(describePolicy(policyWith({ auth }))[0]).toBe('A new device key needs an invitation.');
    const open = { ...auth, anonymousSignupEnabled: true };
    expect(describePolicy(policyWith({ auth: open }))[0]).toBe(
      'Anyone who can reach this server can create an account.',
    );
  });

  it('describes a keyless server with certificates', () => {
    expect(
      describePolicy(
        policyWith({
          auth: {
            anonymousSignupEnabled: false,
            keyChallengeEnabled: false,
            offboarding: { enabled: true, intervalSeconds: 90, strict: false },
          },
          encryption: { storagePolicy: 'plaintext_only', plainAccountSettingsAtRest: 'none' },
          keyless: {
            accountsEnabled: true,
            oauth: { enabled: true, providers: ['okta'], autoProvision: true },
          },
          mtls: { enabled: true, mode: 'direct', autoProvision: true },
          providers: [okta()],
        }),
      ),
    ).toEqual([
      'A new device key is refused: sign-in with a device key is off.',
      'The first sign-in through okta creates an account without device keys.',
      'The first sign-in with a client certificate creates an account without device keys.',
      'Sign-in with a device key is off.',
      'Accounts without device keys sign in through okta.',
      'Accounts without device keys sign in with a client certificate.',
      'No identity provider is required to use the server.',
      'An account without device keys is served only while one of its identities is eligible.',
      'Anyone with an identity at okta is eligible there.',
      'Eligibility is checked again every 90 seconds.',
      'If a provider issues no refresh token, a sign-in lasts one interval; then the person must sign in again.',
      'While a provider is down, its last answer counts.',
      'Ended access is refused on every replica within 7 seconds, whatever fails; with Redis usually at once.',
      'Encrypted content is refused; the server can read everything that is stored.',
      'Content that is not end-to-end encrypted is stored readable in the database, in whole or in part.',
    ]);
  });

  it('describes the choice of users on an optional server', () => {
    const words = describePolicy(
      policyWith({
        auth: { offboarding: { enabled: true, intervalSeconds: 120, strict: false } },
        encryption: { storagePolicy: 'optional', allowAccountOptOut: true },
        keyless: { accountsEnabled: true },
      }),
    );
    expect(words).toContain(
      'Content may be end-to-end encrypted or readable by the server, and accounts without device keys are allowed. Users can switch between the two.',
    );
    expect(words).toContain('Eligibility is checked again every 2 minutes.');
  });
});
