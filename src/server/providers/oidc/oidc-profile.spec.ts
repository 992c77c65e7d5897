import { factsOf, mergeClaims, type ClaimSettings } from './oidc-profile.js';

const SETTINGS: ClaimSettings = {
  claims: { login: 'preferred_username', email: 'email', groups: 'https://acme.example/groups' },
  emailVerification: 'required',
};

describe(factsOf, () => {
  it('reads the claims that the operator configured', () => {
    const claims = {
      preferred_username: 'alice',
      email: 'a@acme.example',
      email_verified: true,
      'https://acme.example/groups': ['staff', 7, null],
    };
    expect(factsOf(claims, SETTINGS)).toEqual({
      login: 'alice',
      email: 'a@acme.example',
      emailVerified: true,
      groups: ['staff'],
      memberships: {},
    });
  });

  it('distinguishes no groups from groups that are absent or elsewhere', () => {
    const groupsOf = (claims: object) => factsOf({ ...claims }, SETTINGS).groups;
    expect(groupsOf({ 'https://acme.example/groups': [] })).toEqual([]);
    expect(groupsOf({ 'https://acme.example/groups': 'staff' })).toEqual(['staff']);
    expect(groupsOf({})).toBeNull();
    expect(groupsOf({ hasgroups: true })).toBeNull();
    expect(groupsOf({ _claim_names: { 'https://acme.example/groups': 'src1' } })).toBeNull();
  });

  it.each([
    [true, true, true],
    ['true', true, true],
    [false, false, true],
    ['yes', false, true],
    [1, false, true],
    [undefined, false, true],
  ])(
    'accepts an address with email_verified %j: %s, by a trusted issuer: %s',
    (flag, own, trusted) => {
      const claims = { email: 'a@acme.example', email_verified: flag };
      expect(factsOf(claims, SETTINGS).emailVerified).toBe(own);
      const settings = { ...SETTINGS, emailVerification: 'trustedIssuer' as const };
      expect(factsOf(claims, settings).emailVerified).toBe(trusted);
    },
  );

  it.each(['half \ud83d', 'nul \u0000'])('omits %j, which no database stores', (text) => {
    const claims = {
      preferred_username: text,
      email: text,
      'https://acme.example/groups': [text, 'staff', 7],
    };
    expect(factsOf(claims, SETTINGS)).toMatchObject({
      login: null,
      email: null,
      groups: ['staff'],
    });
    expect(factsOf({ 'https://acme.example/groups': text }, SETTINGS).groups).toEqual([]);
  });

  it('omits names that no index of the database holds', () => {
    const [longest, longer] = ['é'.repeat(512), 'é'.repeat(513)];
    expect(factsOf({ preferred_username: longest, email: longer }, SETTINGS)).toMatchObject({
      login: longest,
      email: null,
    });
  });

  it.each([
    '\u202emoc.elpmaxe@ecila',
    'a\u2066b',
    'a\nKey none',
    'a\u0085b',
    '\u200b\u200b',
    ' ',
    '',
  ])('omits the name %j, which people take for another or overlook', (text) => {
    const facts = factsOf({ preferred_username: text, email: text }, SETTINGS);
    expect(facts).toMatchObject({ login: null, email: null });
  });

  it.each(['علی\u200cرضا', '🎉', "o'brien"])('keeps the name %j', (text) => {
    expect(factsOf({ preferred_username: text }, SETTINGS).login).toBe(text);
  });

  it('ignores the properties of every object', () => {
    const claims = { login: 'constructor', email: '__proto__', groups: 'toString' };
    const facts = factsOf({}, { ...SETTINGS, claims });
    expect(facts).toMatchObject({ login: null, email: null, groups: null });
  });
});

describe('email_verified', () => {
  const verified = (idToken: object, userInfo: object): boolean =>
    factsOf(mergeClaims({ ...idToken }, { ...userInfo }), SETTINGS).emailVerified;

  it.each<[boolean, string, object, object]>([
    [true, 'both of the ID token', { email: 'a@x', email_verified: true }, {}],
    [true, 'both of userinfo', {}, { email: 'a@x', email_verified: true }],
    [true, 'both of userinfo', { email: 'b@x' }, { email: 'a@x', email_verified: true }],
    [false, 'the flag of userinfo', { email: 'a@x' }, { email_verified: true }],
    [
      false,
      'the flag of userinfo with a negative one',
      { email: 'a@x', email_verified: false },
      { email_verified: true },
    ],
    [false, 'the flag of the ID token', { email: 'b@x', email_verified: true }, { email: 'a@x' }],
  ])('confirms (%s) an address with %s', (expected, _case, idToken, userInfo) => {
    expect(verified(idToken, userInfo)).toBe(expected);
  });

  it('confirms only the claim email, for any claim that the operator reads', () => {
    const claims = { ...SETTINGS.claims, email: 'upn' };
    const answer = { upn: 'boss@acme.example', email: 'a@acme.example', email_verified: true };
    expect(factsOf(answer, { ...SETTINGS, claims })).toMatchObject({
      email: 'boss@acme.example',
      emailVerified: false,
    });
    const trusted = { claims, emailVerification: 'trustedIssuer' as const };
    expect(factsOf(answer, trusted)).toMatchObject({ emailVerified: true });
  });
});

describe(mergeClaims, () => {
  it('prefers userinfo', () => {
    const idToken = { sub: 's', email: 'old@acme.example', email_verified: true, a: 1 };
    expect(mergeClaims(idToken, { sub: 's', a: 2 })).toEqual({ ...idToken, a: 2 });
    expect(mergeClaims(idToken, { sub: 's', email: 'new@acme.example' })).toEqual({
      ...idToken,
      email: 'new@acme.example',
      email_verified: undefined,
    });
  });
});
