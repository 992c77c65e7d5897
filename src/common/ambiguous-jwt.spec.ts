import { isAmbiguousJwt } from './ambiguous-jwt.js';

const HEADER = '{"alg":"ES256","typ":"secevent+jwt"}';

function tokenOf(payload: string, header = HEADER): string {
  const parts = [header, payload].map((part) => Buffer.from(part).toString('base64url'));
  return `${parts.join('.')}.signature`;
}

const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

describe(isAmbiguousJwt.name, () => {
  it.each([
    ['compact claims', tokenOf('{"jti":"one","events":{"a":{}}}'), false],
    ['claims with blanks', tokenOf('{ "jti": "one", "events": { "a": {} } }'), false],
    ['the same name in two objects', tokenOf('{ "a": { "b": 1 }, "c": { "b": 2 } }'), false],
    ['64 levels', tokenOf(nested(64)), false],
    ['a repeated name', tokenOf('{"jti":"one","jti":"two"}'), true],
    ['a repeated name in the header', tokenOf('{}', '{"alg":"ES256","alg":"none"}'), true],
    ['a name that is repeated by an escape', tokenOf('{"jti":"one","jt\\u0069":"two"}'), true],
    ['a byte order mark', tokenOf('\ufeff{"jti":"one"}'), true],
    ['a byte order mark in the header', tokenOf('{}', `\ufeff${HEADER}`), true],
    ['65 levels', tokenOf(nested(65)), true],
    ['5,000 levels', tokenOf(nested(5000)), true],
    ['5,000 levels in the header', tokenOf('{}', nested(5000)), true],
    ['a text that is no JSON', tokenOf('{'), true],
  ])('judges %s', (_what, token, isAmbiguous) => {
    expect(isAmbiguousJwt(token)).toBe(isAmbiguous);
  });
});
