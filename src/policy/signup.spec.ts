import { judgeSignup } from './signup.js';

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
