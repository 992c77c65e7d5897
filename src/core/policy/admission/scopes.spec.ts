import { isOfPerson, scopesIn } from './scopes.js';

describe(isOfPerson.name, () => {
  it('returns true for the token of a session', () => {
    expect(isOfPerson({ client_id: 'gatehouse' })).toBe(true);
  });

  it.each([
    ...[{}, { client_id: '' }, { client_id: ['gatehouse'] }, { client_id: 'Gatehouse' }],
    ...[{ client_id: 'editor' }, { client_id: 'gatehouse', scope: 'notes:read' }],
    ...[
      { client_id: 'gatehouse', scope: '' },
      { client_id: 'gatehouse', scope: null },
    ],
  ])('returns false for %j', (claims) => {
    expect(isOfPerson(claims)).toBe(false);
  });
});

describe(scopesIn.name, () => {
  it.each([
    ['notes:read', ['notes:read']],
    ['notes:read notes:write', ['notes:read', 'notes:write']],
    ['b a b', ['b', 'a']],
    ['!#[]~', ['!#[]~']],
  ])('reads %j', (list, scopes) => {
    expect(scopesIn(list)).toEqual(scopes);
  });

  it.each([
    ...['', ' ', ' a', 'a ', 'a  b', 'a\tb', 'a\nb', 'a\n', 'a\u00a0b', 'a\u3000b'],
    ...['"', 'a"', 'a\\b', '\u007f', '\u001f', 'ä', 'a,\u200bb'],
    ...[null, undefined, 7, true, ['a'], [], {}],
  ])('returns null for %j', (list) => {
    expect(scopesIn(list)).toBeNull();
  });
});
