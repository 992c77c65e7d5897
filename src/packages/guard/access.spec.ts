import { accessFrom } from './access.js';

const NOW = Date.UTC(2026, 9, 1);
const SECONDS = NOW / 1000;
const EXPECTED = { issuer: 'https://gate.example', resource: 'https://relay.example', now: NOW };
const CLAIMS = {
  iss: EXPECTED.issuer,
  aud: EXPECTED.resource,
  sub: 'ada',
  sid: 's1',
  client_id: 'gatehouse',
  iat: SECONDS,
  exp: SECONDS + 300,
  session_exp: SECONDS + 3600,
  login_method: 'okta',
};

const read = (changed: Readonly<Record<string, unknown>> = {}) =>
  accessFrom({ ...CLAIMS, ...changed }, EXPECTED);

describe(accessFrom.name, () => {
  it('reads the required claims', () => {
    expect(read()).toEqual({
      account: 'ada',
      sid: 's1',
      loginMethod: 'okta',
      login: null,
      email: null,
      program: null,
      scopes: [],
      authenticatedAt: null,
      expiresAt: new Date(NOW + 300_000),
      sessionExpiresAt: new Date(NOW + 3_600_000),
    });
  });

  it('reads the names and the time of the login where the token has them', () => {
    const named = { login: 'ada-l', email: 'ada@example.com', auth_time: SECONDS - 60 };
    expect(read(named)).toMatchObject({
      login: 'ada-l',
      email: 'ada@example.com',
      authenticatedAt: new Date(NOW - 60_000),
    });
    expect(read({ login: 7, email: ['x'], auth_time: 'x' })).toMatchObject({
      login: null,
      email: null,
      authenticatedAt: null,
    });
  });

  it('reads the program that acts for the person', () => {
    const program = { client_id: 'inspector', client_name: 'Inspector', grant_id: 'g1' };
    expect(read({ ...program, scope: 'notes:read notes:write' })).toMatchObject({
      account: 'ada',
      program: { id: 'inspector', name: 'Inspector', grant: 'g1' },
      scopes: ['notes:read', 'notes:write'],
    });
  });

  it.each([
    ['another issuer', { iss: 'https://other.example' }],
    ['another audience', { aud: 'https://other.example' }],
    ...['sub', 'sid', 'login_method'].flatMap((name): [string, object][] => [
      [`${name} empty`, { [name]: '' }],
      [`${name} of another type`, { [name]: 7 }],
      [`${name} as a list`, { [name]: ['x'] }],
      [`${name} of 257 characters`, { [name]: 'x'.repeat(257) }],
    ]),
    ...['iat', 'exp', 'session_exp'].flatMap((name): [string, object][] => [
      [`${name} as a text`, { [name]: String(SECONDS + 300) }],
      [`${name} not a number`, { [name]: Number.NaN }],
      [`${name} absent`, { [name]: undefined }],
    ]),
    ['a client that is absent', { client_id: undefined }],
    ['an end that no Date can hold', { session_exp: 8.64e12 + 1 }],
    ['an infinite end', { session_exp: Infinity }],
    ['a start that no Date can hold', { iat: -8.64e12 - 1 }],
  ])('returns a reason for %s', (_what, changed) => {
    expect(typeof read(changed as Record<string, unknown>)).toBe('string');
  });

  it('accepts 256 characters, and the last second that a Date can hold', () => {
    const long = 'x'.repeat(256);
    expect(read({ sub: long, sid: long, login_method: long, session_exp: 8.64e12 })).toMatchObject({
      account: long,
    });
  });

  it.each([
    [{ iat: SECONDS + 60 }, true],
    [{ iat: SECONDS + 61 }, false],
    [{ exp: SECONDS + 900 }, true],
    [{ exp: SECONDS + 901 }, false],
    [{ iat: SECONDS - 10, exp: SECONDS + 890 }, true],
    [{ iat: SECONDS - 10, exp: SECONDS + 891 }, false],
    [{ iat: SECONDS - 10, exp: SECONDS + 1 }, true],
    [{ iat: SECONDS - 10, exp: SECONDS }, false],
    [{ session_exp: SECONDS + 1 }, true],
    [{ session_exp: SECONDS }, false],
  ])('judges the times %j: %s', (changed, isAccepted) => {
    expect(typeof read(changed) === 'object').toBe(isAccepted);
  });
});
