import { isFreshLogin, judgeSession, judgeSignup } from './access.js';

const FACTS = { isDisabled: false, loggedInAt: 1, identities: [] };

describe(judgeSession, () => {
  it.each([
    ['goes on', FACTS, { isAllowed: true, loggedInAt: 1 }],
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

describe(isFreshLogin, () => {
  it.each([
    [0, 900_000, 899_999, true],
    [0, 900_000, 900_000, false],
    [1000, 900_000, 900_999, true],
    [0, 0, Number.MAX_SAFE_INTEGER, true],
    // Another server's clock may be ahead.
    [5000, 900_000, 0, true],
  ])('of %d within %d at %d: %s', (loggedInAt, maxAgeMs, now, isFresh) => {
    expect(isFreshLogin(loggedInAt, maxAgeMs, now)).toBe(isFresh);
  });
});

describe('judgeSignup', () => {
  it('refuses a new key while anonymous sign-up is off', () => {
    expect(judgeSignup({ anonymousSignupEnabled: false, accountExists: false })).toEqual({
      allowed: false,
      code: 'signup-disabled',
    });
  });

  it.each([
    { anonymousSignupEnabled: true, accountExists: false },
    { anonymousSignupEnabled: true, accountExists: true },
    { anonymousSignupEnabled: false, accountExists: true },
  ])('lets $anonymousSignupEnabled/$accountExists in', (facts) => {
    expect(judgeSignup(facts)).toEqual({ allowed: true });
  });
});
