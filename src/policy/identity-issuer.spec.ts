import { isOfAuthority, issuersOf } from './identity-issuer.js';

const AUTHORITY = { issuer: 'https://new.example', formerIssuers: ['https://old.example'] };

describe(isOfAuthority.name, () => {
  it.each([
    ['https://new.example', true],
    ['https://old.example', true],
    [null, true],
    ['https://new.example/', false],
    ['https://NEW.example', false],
    ['https://other.example', false],
    ['', false],
  ])('compares the issuer %j as text: %s', (stored, expected) => {
    expect(isOfAuthority(stored, AUTHORITY)).toBe(expected);
  });

  it('asks for no issuer where identities have none', () => {
    expect(isOfAuthority(null, null)).toBe(true);
    expect(issuersOf(AUTHORITY)).toEqual(['https://new.example', 'https://old.example']);
  });
});
