import { isOfAuthority, issuersOf, judgeLink, type LinkedIdentity } from './identity-link.js';

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

  it('requires no issuer where identities have none', () => {
    expect(isOfAuthority(null, null)).toBe(true);
    expect(isOfAuthority('https://old.example', null)).toBe(true);
    expect(issuersOf(AUTHORITY)).toEqual(['https://new.example', 'https://old.example']);
  });
});

const request = {
  accountId: 'a',
  subject: 'alice',
  authority: { issuer: 'https://new.example', formerIssuers: ['https://old.example'] },
  login: 'alice',
  checkedAt: 1000,
};
const linked: LinkedIdentity = {
  accountId: 'a',
  subject: 'alice',
  issuer: 'https://new.example',
  login: 'alice',
  status: 'eligible',
  checkedAt: 500,
};

describe(judgeLink.name, () => {
  it('links a new identity', () => {
    expect(judgeLink(request, [])).toEqual({ kind: 'insert' });
  });

  it('refreshes the identity of the account, and reports a changed display', () => {
    expect(judgeLink(request, [linked])).toEqual({ kind: 'refresh', change: 'none' });
    const renamed = { ...linked, login: 'alice-before' };
    expect(judgeLink(request, [renamed])).toEqual({ kind: 'refresh', change: 'renamed' });
    const unknown = { ...linked, status: 'unknown' as const };
    expect(judgeLink(request, [unknown])).toEqual({ kind: 'refresh', change: 'regained' });
  });

  it.each<[string, LinkedIdentity[]]>([
    ['the identity has another account', [{ ...linked, accountId: 'b' }]],
    ['the account has another identity', [{ ...linked, subject: 'bob' }]],
    [
      'the account has another identity of another issuer',
      [{ ...linked, subject: 'bob', issuer: 'https://other.example' }],
    ],
    ['the account has another identity too', [linked, { ...linked, subject: 'bob' }]],
    [
      'both',
      [
        { ...linked, accountId: 'b' },
        { ...linked, subject: 'bob' },
      ],
    ],
  ])('refuses when %s', (_, identities) => {
    expect(judgeLink(request, identities)).toEqual({
      kind: 'refuse',
      code: 'provider-already-linked',
    });
  });

  it.each<[string, LinkedIdentity[]]>([
    ['of the same account', [{ ...linked, issuer: 'https://other.example' }]],
    ['of another account', [{ ...linked, accountId: 'b', issuer: 'https://other.example' }]],
    [
      'of another account, and one of this account',
      [
        { ...linked, subject: 'bob' },
        { ...linked, accountId: 'b', issuer: 'https://other.example' },
      ],
    ],
  ])('treats the same subject of another issuer, %s, as another person', (_, identities) => {
    expect(judgeLink(request, identities)).toEqual({
      kind: 'foreign',
      issuer: 'https://other.example',
    });
  });

  it.each([null, 'https://old.example'])('refreshes an identity of the issuer %j', (issuer) => {
    const refreshed = { kind: 'refresh', change: 'none' };
    expect(judgeLink(request, [{ ...linked, issuer }])).toEqual(refreshed);
  });

  it('keeps a refusal that is newer than the proof, and replaces an older one', () => {
    const refused = { ...linked, status: 'ineligible' as const, checkedAt: 1001 };
    expect(judgeLink(request, [refused])).toEqual({ kind: 'refuse', code: 'not-eligible' });
    const accepted = { ...linked, checkedAt: 1001 };
    expect(judgeLink(request, [accepted])).toEqual({ kind: 'refresh', change: 'none' });
    const regained = { ...refused, checkedAt: 1000 };
    expect(judgeLink(request, [regained])).toEqual({ kind: 'refresh', change: 'regained' });
  });
});
