import { Runtime } from '../../src/common/runtime/runtime.js';
import type { OidcProviderSettings } from '../../src/server/config/providers-file/provider-settings.js';
import { ProviderError, type Exchange } from '../../src/server/providers/identity-provider.js';
import { OidcProvider } from '../../src/server/providers/oidc/oidc.provider.js';
import { FakeOpenIdProvider, type Breakage } from '../fakes/openid-provider.js';
import {
  authorizationRequest,
  oidcSettings,
  DIRECT,
  PATIENT_LIMITS,
  recheckSubject,
} from '../fixtures/provider-settings-fixture.js';
import { LOGIN_ROWS, TIME_ROWS, USERINFO, withClaims, without } from './openid-conformance.rows.js';

const NULLS = { alg: null, use: null, key_ops: null, ext: null, x5c: null, 'x5t#S256': null };

/** An answer of the provider with an error. */
const failed = (error: string): Breakage => ({
  callback: (query) => {
    query.delete('code');
    query.set('error', error);
    query.set('error_description', 'a secret of alice');
  },
});

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

  it.each<[string, Breakage['keySet']]>([
    ['null', (keys) => [null, ...keys]],
    ['no object', (keys) => ['key', [], 1, ...keys]],
    ['of a type that does not exist', (keys) => [{ kty: 'XYZ', kid: 'x' }, ...keys]],
    ['without a type', (keys) => [{ kid: 'x' }, ...keys]],
    ['repeated', (keys) => [...keys, ...keys]],
    ['with members that are null', (keys) => keys.map((key) => ({ ...key, ...NULLS }))],
    ['of another purpose with the same id', (keys) => [{ ...keys[0], use: 'enc' }, ...keys]],
    ['another one with the same id', (keys, { n }) => [{ ...keys[0], n }, ...keys]],
    ['another one with the same id, later', (keys, { n }) => [...keys, { ...keys[0], n }]],
  ])('accepts a signature although a member of the key set is %s', async (_name, keySet) => {
    op.breakage = { keySet };
    expect(await logIn(providerFor())).toHaveProperty('profile');
    op.breakage = { keySet, signature: 'foreign-key' };
    const isPublished = _name.startsWith('another');
    const outcome = await logIn(providerFor());
    expect('profile' in outcome).toBe(isPublished);
  });

  it('accepts a token without a key id if all members of the key set are the same key', async () => {
    const header = ({ alg }: { alg: string }): object => ({ alg });
    op.breakage = { header, keySet: (keys) => [...keys, ...keys] };
    expect(await logIn(providerFor())).toHaveProperty('profile');
    op.breakage = { header, keySet: (keys, foreign) => [...keys, foreign] };
    expect(await logIn(providerFor())).toMatchObject({ detail: 'ERR_JWKS_MULTIPLE_MATCHING_KEYS' });
  });

  it.each([null, ''])('treats the members %j of a token response as absent', async (value) => {
    const absent = { refresh_token: value, scope: value, expires_in: value };
    op.breakage = { tokenAnswer: (answer) => ({ ...answer, ...absent }) };
    const provider = providerFor();
    expect(await logIn(provider)).toMatchObject({ credentials: null });
    op.breakage = {};
    const { credentials } = (await logIn(provider)) as Exchange;
    op.breakage = { tokenAnswer: (answer) => ({ ...answer, ...absent, id_token: value }) };
    const subject = recheckSubject({ subject: 'person-1', credentials });
    const signal = new AbortController().signal;
    expect(await providerFor(USERINFO).recheck(subject, signal)).toMatchObject({
      outcome: 'profile',
    });
    expect(subject.saved).toEqual([]);
  });

  it('accepts the further audiences that the entry trusts, and no others', async () => {
    const aud = (...more: string[]): Breakage => ({
      claims: withClaims({ aud: ['gatehouse', ...more], azp: 'gatehouse' }),
    });
    const trusting = { trustedAudiences: ['project-1', 'project-2'] };
    op.breakage = aud('project-2', 'project-1');
    expect(await logIn(providerFor(trusting))).toHaveProperty('profile');
    expect(await logIn(providerFor())).toMatchObject({ detail: 'claim_aud' });
    op.breakage = aud('project-1', 'project-3');
    expect(await logIn(providerFor(trusting))).toMatchObject({ detail: 'claim_aud' });
    op.breakage = { claims: withClaims({ aud: ['project-1'], azp: 'gatehouse' }) };
    expect(await logIn(providerFor(trusting))).toMatchObject({ detail: 'claim_aud' });
    op.breakage = { claims: withClaims({ aud: ['gatehouse', 'project-1'], azp: 'project-1' }) };
    expect(await logIn(providerFor(trusting))).toMatchObject({ refusal: 'invalid_response' });
  });

  it.each<[string, Breakage, string, RegExp]>([
    ['claim_aud', { claims: withClaims({ aud: 'another' }) }, 'invalid_response', /"aud"/],
    ['claim_nonce', { claims: withClaims({ nonce: 'another' }) }, 'invalid_response', /"nonce"/],
    ['claim_exp', { claims: withClaims({ exp: 1 }) }, 'invalid_response', /"exp"/],
    ['claim_at_hash', { claims: withClaims({ at_hash: 'x' }) }, 'invalid_response', /^$/],
    [
      'OAUTH_INVALID_RESPONSE',
      { callback: (query) => query.set('iss', 'https://evil.example') },
      'invalid_response',
      /unexpected "iss" \(issuer\) response parameter value/,
    ],
    [
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      { signature: 'flipped' },
      'invalid_response',
      /signature verification failed/,
    ],
    ['consent_required', failed('consent_required'), 'invalid_response', /: consent_required$/],
    ['access_denied', failed('access_denied'), 'access_denied', /: access_denied$/],
    ['other', failed('a code that no list has'), 'invalid_response', /: other$/],
    ['server_error', failed('server_error'), 'upstream_error', /server_error/],
  ])('names what was refused: %s', async (detail, breakage, refusal, cause) => {
    op.breakage = breakage;
    const outcome = (await logIn(providerFor())) as ProviderError;
    expect(outcome).toMatchObject({ refusal, detail });
    const message = outcome.cause instanceof Error ? outcome.cause.message : '';
    expect(message).toMatch(cause);
    expect(message).not.toMatch(/evil|another|secret|alice/);
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

  it.each<[string, string, string, object]>([
    ['the login', 'alice', 'preferred_username', { reason: 'no_claims' }],
    ['the address', 'alice@acme.example', 'email', { reason: 'no_claims' }],
    ['the login', 'sub:person-1', 'preferred_username', { outcome: 'profile' }],
    ['the login', 'alice@acme.example', 'preferred_username', { outcome: 'profile' }],
  ])(
    'judges by what is there without an ID token and %s: the allowlist %s',
    async (_name, entry, absent, expected) => {
      op.person = { ...op.person, email_verified: true };
      const allow = { usersAllowlist: [entry], emailDomains: [], groupsAny: [], groupsAll: [] };
      const breakage = { tokenAnswer: without('id_token'), userInfo: without(absent) };
      const { outcome } = await refreshed(breakage, { allow });
      expect(outcome).toMatchObject(expected);
    },
  );

  it('reports a failure to save the new refresh token', async () => {
    const provider = providerFor();
    const { credentials } = (await logIn(provider)) as Exchange;
    const saveCredentials = () => Promise.reject(new Error('storage is down'));
    const subject = recheckSubject({ subject: 'person-1', credentials, saveCredentials });
    const check = provider.recheck(subject, new AbortController().signal);
    await expect(check).rejects.toThrow('storage is down');
  });
});
