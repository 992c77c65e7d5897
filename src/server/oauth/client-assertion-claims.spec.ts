import type { JWTPayload } from 'jose';
import { assertionFailure, decodeAssertion } from './client-assertion-claims.js';

const NOW = 1_780_000_000;
const AUDIENCE = 'https://gate.example.com';

const judge = (
  changed: JWTPayload,
  method: 'private-key' | 'kubernetes' = 'private-key',
  typ?: string,
): string | null => {
  const claims = { aud: AUDIENCE, iat: NOW, exp: NOW + 300, jti: 'one', ...changed };
  return assertionFailure({ header: { alg: 'ES256', typ }, claims }, method, AUDIENCE, NOW);
};

describe(assertionFailure.name, () => {
  it.each([
    [{}],
    [{ aud: [AUDIENCE] }],
    [{ iat: undefined }],
    [{ nbf: NOW + 30 }],
    [{ iat: NOW - 300, exp: NOW - 29 }],
    [{ jti: 'x'.repeat(256) }],
  ])('accepts an assertion with %j', (changed) => {
    expect(judge(changed)).toBeNull();
  });

  it.each([
    [{ aud: `${AUDIENCE}/` }, 'audience'],
    [{ aud: `${AUDIENCE}/v1/oauth/token` }, 'audience'],
    [{ aud: [AUDIENCE, 'https://other.example'] }, 'audience'],
    [{ aud: undefined }, 'audience'],
    [{ aud: [] }, 'audience'],
    [{ exp: undefined }, 'times'],
    [{ exp: 'soon' as unknown as number }, 'times'],
    [{ exp: Infinity }, 'times'],
    [{ nbf: 'soon' as unknown as number }, 'times'],
    [{ iat: NOW - 300, exp: NOW - 30 }, 'has expired'],
    [{ nbf: NOW + 31 }, 'not valid yet'],
    [{ iat: NOW + 31, exp: NOW + 60 }, 'not valid yet'],
    [{ exp: NOW + 301 }, 'lives longer than 300'],
    [{ iat: undefined, exp: NOW + 331 }, 'lives longer than 300'],
    [{ iat: NOW - 3000, exp: NOW + 10 }, 'lives longer than 300'],
    [{ jti: undefined }, 'jti'],
    [{ jti: '' }, 'jti'],
    [{ jti: 7 as unknown as string }, 'jti'],
    [{ jti: 'x'.repeat(257) }, 'jti'],
  ])('refuses an assertion with %j', (changed, reason) => {
    expect(judge(changed)).toContain(reason);
  });

  it.each([['at+jwt'], ['logout+jwt'], ['application/at+JWT'], ['secevent+jwt']])(
    'refuses the type %s of another token',
    (typ) => {
      expect(judge({}, 'private-key', typ)).toContain('type');
    },
  );

  it.each([['JWT'], ['client-authentication+jwt'], ['application/client-authentication+jwt']])(
    'accepts the type %s',
    (typ) => {
      expect(judge({}, 'private-key', typ)).toBeNull();
    },
  );

  it('accepts a service account token of an hour, which needs no id', () => {
    expect(judge({ exp: NOW + 3600, jti: undefined }, 'kubernetes')).toBeNull();
    expect(judge({ exp: NOW + 3601 }, 'kubernetes')).toContain('longer than 3600');
    expect(judge({ iat: undefined }, 'kubernetes')).toContain('when it was issued');
  });
});

describe(decodeAssertion.name, () => {
  it.each([[''], ['a.b.c'], ['a.b'], ['e30.W10.x']])('refuses the text %s', (text) => {
    expect(decodeAssertion(text)).toBeNull();
  });
});
