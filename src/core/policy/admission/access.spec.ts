import { isFreshLogin, judgeProviders, judgeSession, type IdentityFacts } from './access.js';

const FACTS = { isDisabled: false, loggedInAt: 1, isKeyless: false, identities: [] };

describe(judgeSession, () => {
  it.each([
    ['continues', FACTS, { isAllowed: true, loggedInAt: 1 }],
    ['has ended', { ...FACTS, loggedInAt: null }, { isAllowed: false, code: 'token-revoked' }],
    ['is of no account', null, { isAllowed: false, code: 'token-revoked' }],
    ['is of a disabled account', { ...FACTS, isDisabled: true }, DISABLED()],
    ['ended with its account', { ...FACTS, isDisabled: true, loggedInAt: null }, DISABLED()],
  ])('judges a session that %s', (_what, facts, decision) => {
    expect(judgeSession(facts)).toEqual(decision);
  });
});

function DISABLED() {
  return { isAllowed: false, code: 'account-disabled' };
}

describe(judgeProviders, () => {
  const NOW = 1_800_000_000_000;
  const HOUR = 3_600_000;
  const lenient = { enabled: true, intervalSeconds: 3600, strict: false };
  const strict = { ...lenient, strict: true };
  const identity = (provider: string, given: Partial<IdentityFacts> = {}): IdentityFacts => ({
    ...{ provider, status: 'eligible', reason: null, checkedAt: NOW, failures: 1 },
    ...given,
  });
  const okta = identity('okta');
  const gone = identity('okta', { status: 'ineligible' });
  const unknown = identity('okta', { status: 'unknown', checkedAt: NOW - HOUR });
  const signedOut = identity('acme', {
    signals: [{ source: 'sign-out', isAllowed: false, at: NOW }],
  });
  const allowed = { isAllowed: true, until: Infinity };
  const refused = (code: string, provider: string | null) => ({ isAllowed: false, code, provider });

  it.each([
    ['a keyed account without identities', [], false, [], allowed],
    ['a keyed account whose only identity is gone', [], false, [gone], allowed],
    ['a keyless account', [], true, [okta], allowed],
    [
      'a keyless account that its provider removed',
      [],
      true,
      [gone],
      refused('not-eligible', 'okta'),
    ],
    ['a keyless account without identities', [], true, [], refused('not-eligible', null)],
    ['an account removed by one provider of two', [], true, [gone, identity('acme')], allowed],
    [
      'an account removed by both',
      [],
      true,
      [gone, identity('mtls', { status: 'ineligible' })],
      refused('not-eligible', 'okta'),
    ],
    [
      'an account removed by one provider and signed out at the other',
      [],
      true,
      [gone, signedOut],
      refused('provider-required', 'acme'),
    ],
    [
      'one who is signed out at the required one',
      ['acme'],
      false,
      [okta, signedOut],
      refused('provider-required', 'acme'),
    ],
    ['one whose provider gives no answer', [], true, [unknown], allowed],
    [
      'one who lacks the required one',
      ['acme'],
      true,
      [okta],
      refused('provider-required', 'acme'),
    ],
    [
      'one who left the required one',
      ['okta'],
      true,
      [gone, identity('acme')],
      refused('not-eligible', 'okta'),
    ],
  ])('judges %s', (_who, required, isKeyless, identities, decision) => {
    expect(judgeProviders(required, { isKeyless, identities }, lenient, NOW)).toEqual(decision);
  });

  it.each([
    ['by an identity that opens it', [gone, identity('acme')], ['okta', 'acme'], allowed],
    ['by no other one', [gone, identity('acme')], ['okta'], refused('not-eligible', 'okta')],
    [
      'by no other one, in any order',
      [identity('acme'), gone],
      ['okta'],
      refused('not-eligible', 'okta'),
    ],
    ['by every one, where none opens it any more', [gone, identity('acme')], [], allowed],
    ['by every one, where only others open accounts', [okta], ['mtls'], allowed],
  ])('serves a keyless account %s', (_how, identities, keylessLogins, decision) => {
    const account = { isKeyless: true, identities };
    expect(judgeProviders([], account, { ...lenient, keylessLogins }, NOW)).toEqual(decision);
    expect(judgeProviders([], { ...account, isKeyless: false }, lenient, NOW)).toEqual(allowed);
  });

  it('serves a keyless account for as long as the last of its identities counts, where strict', () => {
    const identities = [okta, identity('acme', { checkedAt: NOW - HOUR / 2 })];
    const account = { isKeyless: true, identities };
    expect(judgeProviders([], account, strict, NOW)).toEqual({ ...allowed, until: NOW + HOUR });
    expect(judgeProviders(['acme'], account, strict, NOW)).toMatchObject({ until: NOW + HOUR / 2 });
    expect(judgeProviders([], account, strict, NOW + HOUR)).toEqual({
      ...refused('not-eligible', 'okta'),
      isOutdated: true,
    });
    const old = { isKeyless: true, identities: [unknown] };
    expect(judgeProviders([], old, strict, NOW)).toMatchObject({ isOutdated: true });
  });
});

describe(isFreshLogin, () => {
  it.each([
    [0, 900_000, 899_999, true],
    [0, 900_000, 900_000, false],
    [1000, 900_000, 900_999, true],
    [0, 0, Number.MAX_SAFE_INTEGER, true],
    // The clock of another server may be ahead.
    [5000, 900_000, 0, true],
    [899_999, 900_000, 0, true],
    [900_000, 900_000, 0, false],
  ])(
    'judges a login at %d within %d ms at %d as fresh: %s',
    (loggedInAt, maxAgeMs, now, isFresh) => {
      expect(isFreshLogin(loggedInAt, maxAgeMs, now)).toBe(isFresh);
    },
  );
});
