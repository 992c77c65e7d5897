import { DEV_PUSH_VARIABLE, registersPushToken } from './push-registration.js';

describe('Events 11: push token registration', () => {
  it('goes by the variable of the specification', () => {
    expect(DEV_PUSH_VARIABLE).toBe('CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION');
  });

  it.each<[boolean, string | undefined, boolean]>([
    [true, undefined, false],
    [true, '', false],
    [true, '0', false],
    [true, 'true', false],
    [true, '1', true],
    [false, undefined, true],
    [false, '0', true],
    [false, '1', true],
  ])('development build %s, variable %j: %s', (isDevelopmentBuild, value, expected) => {
    const variables = { [DEV_PUSH_VARIABLE]: value };
    expect(registersPushToken({ isDevelopmentBuild, variables })).toBe(expected);
  });
});
