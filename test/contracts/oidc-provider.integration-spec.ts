import { Runtime } from '../../src/common/runtime/runtime.js';
import { judgeEligibility } from '../../src/core/policy/eligibility/eligibility.js';
import { OidcProvider } from '../../src/server/providers/oidc/oidc.provider.js';
import { capabilitiesOf } from '../../src/core/policy/eligibility/provider-rules.js';
import { OidcProviderProcess } from '../fakes/oidc-provider.js';
import {
  authorizationRequest,
  oidcSettings,
  DIRECT,
  PATIENT_LIMITS,
  recheckSubject,
  REDIRECT_URI,
} from '../fixtures/provider-settings-fixture.js';

const ALICE = {
  sub: 'alice',
  preferred_username: 'alice',
  email: 'alice@acme.example',
  email_verified: true,
};

describe('OidcProvider with the certified oidc-provider', () => {
  let op: OidcProviderProcess;

  beforeAll(async () => {
    op = await OidcProviderProcess.start(REDIRECT_URI);
  });

  afterAll(() => op.stop());

  it('logs in, applies group changes at re-checks with rotating refresh tokens, and detects a removal', async () => {
    const settings = oidcSettings(op.issuer, {
      scopes: ['openid', 'profile', 'email', 'offline_access'],
      prompt: 'consent',
      allow: {
        usersAllowlist: [],
        emailDomains: ['acme.example'],
        groupsAny: ['engineering'],
        groupsAll: [],
      },
    });
    const provider = new OidcProvider(settings, new Runtime(), DIRECT, PATIENT_LIMITS);
    const rules = capabilitiesOf(settings).rules;
    await op.setAccount({ ...ALICE, groups: ['engineering'] });

    const request = authorizationRequest();
    const url = await provider.authorizationUrl(request);
    const returned = await op.logIn(url, 'alice');
    expect(returned.href.startsWith(REDIRECT_URI)).toBe(true);
    const { profile, credentials } = await provider.exchange(returned, request);
    expect(profile).toMatchObject({ subject: 'alice', facts: { email: 'alice@acme.example' } });
    expect(judgeEligibility(rules, profile)).toEqual({ status: 'eligible' });

    let kept = credentials;
    const recheck = async () => {
      const subject = recheckSubject({ subject: 'alice', credentials: kept });
      const answer = await provider.recheck(subject, new AbortController().signal);
      kept = subject.saved[0] ?? kept;
      return answer.outcome === 'profile' ? judgeEligibility(rules, answer.profile) : answer;
    };
    expect(await recheck()).toEqual({ status: 'eligible' });
    expect(kept).not.toBe(credentials);
    await op.setAccount({ ...ALICE, groups: ['sales'] });
    expect(await recheck()).toEqual({ status: 'ineligible', reason: 'group_missing' });
    await op.setAccount({ ...ALICE, groups: ['engineering'] });
    expect(await recheck()).toEqual({ status: 'eligible' });
    await op.removeAccount('alice');
    expect(await recheck()).toEqual({ outcome: 'gone', reason: 'invalid_grant' });
  });

  it('keeps no refresh token where the provider requires consent for one, and none was requested', async () => {
    const settings = oidcSettings(op.issuer, {
      scopes: ['openid', 'profile', 'email', 'offline_access'],
    });
    const provider = new OidcProvider(settings, new Runtime(), DIRECT, PATIENT_LIMITS);
    await op.setAccount({ ...ALICE });
    const request = authorizationRequest();
    const returned = await op.logIn(await provider.authorizationUrl(request), 'alice');
    expect(await provider.exchange(returned, request)).toMatchObject({ credentials: null });
  });
});
