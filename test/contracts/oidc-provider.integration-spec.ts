import { Runtime } from '../../src/common/runtime/runtime.js';
import { judgeEligibility } from '../../src/core/policy/eligibility/eligibility.js';
import { OidcProvider } from '../../src/server/providers/oidc/oidc.provider.js';
import { capabilitiesOf } from '../../src/core/policy/eligibility/provider-rules.js';
import { Browser, Oidc } from '../fixtures/oidc-provider-fixture.js';
import {
  authorizationRequest,
  oidcSettings,
  DIRECT,
  PATIENT_LIMITS,
  recheckSubject,
  REDIRECT_URI,
} from '../fixtures/provider-settings-fixture.js';

const SCOPES = ['openid', 'profile', 'email', 'groups', 'offline_access'];

const logIn = (url: URL): Promise<URL> => new Browser('alice').visit(url, REDIRECT_URI);

describe('OidcProvider with the certified oidc-provider', () => {
  let op: Oidc;

  beforeAll(async () => {
    op = await Oidc.start([REDIRECT_URI], '--ask');
  });

  afterAll(() => op.stop());

  it('logs in, applies group changes at re-checks with rotating refresh tokens, and detects a removal', async () => {
    const settings = oidcSettings(op.issuer, {
      scopes: SCOPES,
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

    const request = authorizationRequest();
    const url = await provider.authorizationUrl(request);
    const returned = await logIn(url);
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
    await op.setGroups('alice', ['sales']);
    expect(await recheck()).toEqual({ status: 'ineligible', reason: 'group_missing' });
    await op.setGroups('alice', ['engineering']);
    expect(await recheck()).toEqual({ status: 'eligible' });
    await op.send({ login: 'alice', isGone: true });
    expect(await recheck()).toEqual({ outcome: 'gone', reason: 'invalid_grant' });
  });

  it('keeps no refresh token where the provider requires consent for one, and none was requested', async () => {
    const settings = oidcSettings(op.issuer, { scopes: SCOPES });
    const provider = new OidcProvider(settings, new Runtime(), DIRECT, PATIENT_LIMITS);
    await op.setGroups('alice', []);
    const request = authorizationRequest();
    const returned = await logIn(await provider.authorizationUrl(request));
    expect(await provider.exchange(returned, request)).toMatchObject({ credentials: null });
  });
});
