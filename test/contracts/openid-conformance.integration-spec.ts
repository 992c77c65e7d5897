import { Runtime } from '../../src/common/runtime/runtime.js';
import type { OidcProviderSettings } from '../../src/config/providers-file/provider-settings.js';
import { ProviderError, type Exchange } from '../../src/providers/identity-provider.js';
import { OidcProvider } from '../../src/providers/oidc/oidc.provider.js';
import { FakeOpenIdProvider, type Breakage } from '../fakes/openid-provider.js';
import {
  authorizationRequest,
  oidcSettings,
  DIRECT,
  PATIENT_LIMITS,
  recheckSubject,
} from '../fixtures/provider-settings-fixture.js';
import { LOGIN_ROWS, TIME_ROWS, USERINFO, withClaims, without } from './openid-conformance.rows.js';

describe('OpenID Connect conformance', () => {
  let op: FakeOpenIdProvider;

  beforeEach(async () => {
    op = await FakeOpenIdProvider.start();
  });

  afterEach(() => op.close());

  const providerFor = (settings: Partial<OidcProviderSettings> = {}): OidcProvider =>
    new OidcProvider(oidcSettings(op.issuer, settings), new Runtime(), DIRECT, PATIENT_LIMITS);

  async function logIn(provider: OidcProvider): Promise<Exchange | ProviderError> {
    const request = authorizationRequest();
    try {
      const url = await provider.authorizationUrl(request);
      return await provider.exchange(await op.authorize(url), request);
    } catch (error) {
      expect(error).toBeInstanceOf(ProviderError);
      return error as ProviderError;
    }
  }

  it.each(LOGIN_ROWS.map((row) => [row.name, row.expect, row] as const))(
    'passes oidcc-client-test%s: %s',
    async (_name, expected, { breakage = {}, settings = USERINFO, alg, keepOldKey, refusal }) => {
      if (alg !== undefined || keepOldKey === true) {
        await op.rotateKeys(alg, keepOldKey);
      }
      op.breakage = breakage;
      const outcome = await logIn(providerFor(settings));
      if (expected === 'success') {
        expect(outcome).toMatchObject({
          profile: { subject: 'person-1', facts: { login: 'alice' } },
        });
      } else {
        expect(outcome).toMatchObject({ refusal: refusal ?? 'invalid_response' });
      }
      const calls = {
        token: op.requests.includes('/token'),
        userInfo: op.requests.includes('/userinfo'),
      };
      expect(calls).toEqual({
        token: expected !== 'rejected before the token',
        userInfo: expected === 'success' || expected === 'rejected after userinfo',
      });
    },
  );

  it.each(TIME_ROWS)(
    'rejects an ID token with %s, without a userinfo call',
    async (_name, given) => {
      op.breakage = { claims: (claims) => ({ ...claims, ...given() }) };
      expect(await logIn(providerFor(USERINFO))).toMatchObject({ refusal: 'invalid_response' });
      expect(op.requests).not.toContain('/userinfo');
    },
  );

  it('accepts an ID token that expired within the clock difference between two machines', async () => {
    const exp = Math.floor(Date.now() / 1000) - 5;
    op.breakage = { claims: withClaims({ exp }) };
    expect(await logIn(providerFor())).toHaveProperty('profile');
  });

  it('accepts a rotated signing key without a restart (-signing-key-rotation)', async () => {
    const provider = providerFor();
    expect(await logIn(provider)).toHaveProperty('profile');
    await op.rotateKeys();
    expect(await logIn(provider)).toHaveProperty('profile');
    expect(op.requests.filter((path) => path === '/jwks')).toHaveLength(2);
  });

  it('requests the keys a bounded number of times for unknown key ids', async () => {
    const provider = providerFor();
    op.breakage = { header: ({ alg }) => ({ alg, kid: 'made-up' }) };
    for (let login = 0; login < 8; login += 1) {
      // Without a request it is unknown if there is such a key by now.
      const refusal = login < 4 ? 'invalid_response' : 'upstream_error';
      expect(await logIn(provider)).toMatchObject({ refusal });
    }
    expect(op.requests.filter((path) => path === '/jwks')).toHaveLength(4);
  });

  it('never caches an error in place of keys', async () => {
    const provider = providerFor();
    op.faults.set('/jwks', 'html');
    expect(await logIn(provider)).toMatchObject({ refusal: 'upstream_error' });
    op.faults.clear();
    expect(await logIn(provider)).toHaveProperty('profile');
  });

  async function refreshed(breakage: Breakage, settings: Partial<OidcProviderSettings> = {}) {
    const provider = providerFor(settings);
    const exchange = (await logIn(provider)) as Exchange;
    op.breakage = { ...breakage, onRefreshOnly: true };
    const subject = recheckSubject({
      subject: exchange.profile.subject,
      credentials: exchange.credentials,
    });
    op.requests.length = 0;
    const outcome = await provider.recheck(subject, new AbortController().signal);
    return { outcome, subject };
  }

  it.each<[string, Breakage, object]>([
    ['-refresh-token', {}, { outcome: 'profile', profile: { subject: 'person-1' } }],
    [
      '-refresh-token-invalid-issuer',
      { claims: withClaims({ iss: 'https://evil.example' }) },
      { outcome: 'unknown', reason: 'invalid_response' },
    ],
    [
      '-refresh-token-invalid-sub',
      { claims: withClaims({ sub: 'another' }) },
      { outcome: 'unknown', reason: 'subject_mismatch' },
    ],
    [
      ' refresh with a bad signature',
      { signature: 'flipped' },
      { outcome: 'unknown', reason: 'invalid_response' },
    ],
    [
      ' refresh without an ID token (userinfo says who)',
      { tokenAnswer: without('id_token') },
      { outcome: 'profile', profile: { subject: 'person-1' } },
    ],
    [
      ' refresh with userinfo of another person',
      { tokenAnswer: without('id_token'), userInfo: withClaims({ sub: 'another' }) },
      { outcome: 'unknown', reason: 'invalid_response' },
    ],
  ])('passes oidcc-client-test%s', async (_name, breakage, expected) => {
    const { outcome, subject } = await refreshed(breakage);
    expect(outcome).toMatchObject(expected);
    // The refresh token of any answer replaced the spent one.
    expect(subject.saved).toEqual([op.refreshTokens[0]]);
  });

  it('reports a failure to save the new refresh token', async () => {
    const provider = providerFor();
    const { credentials } = (await logIn(provider)) as Exchange;
    const saveCredentials = () => Promise.reject(new Error('storage is down'));
    const subject = recheckSubject({ subject: 'person-1', credentials, saveCredentials });
    const check = provider.recheck(subject, new AbortController().signal);
    await expect(check).rejects.toThrow('storage is down');
  });
});
