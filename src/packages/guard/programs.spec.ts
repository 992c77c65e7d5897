import { holderIn, programRefusal, requiredScopes, type Holder } from './programs.js';

const ID = 'https://editor.example/client.json';
const CLAIMS = {
  client_id: ID,
  client_name: 'Editor',
  grant_id: 'g1',
  scope: 'notes:read',
};
const PROGRAM: Holder = {
  program: { id: ID, name: 'Editor', grant: 'g1' },
  scopes: ['notes:read', 'notes:list'],
};
const PERSON: Holder = { program: null, scopes: [] };

describe(holderIn.name, () => {
  it('reads a person in the token of a session', () => {
    expect(holderIn({ client_id: 'gatehouse' })).toEqual(PERSON);
  });

  it('reads a program with its scopes', () => {
    expect(holderIn({ ...CLAIMS, scope: 'notes:read notes:list' })).toEqual(PROGRAM);
  });

  it.each(['Gatehouse', 'GATEHOUSE', 'gatehouse ', ' gatehouse', 'gatehouse\u0000', 'gatehousе'])(
    'reads no person in the client %j',
    (id) => {
      expect(holderIn({ client_id: id })).toEqual(expect.any(String));
      expect(holderIn({ ...CLAIMS, client_id: id })).toMatchObject({ program: { id } });
    },
  );

  it.each(['notes:read', '', null, [], 0])(
    'returns a reason for a person with the scope %j',
    (scope) => {
      expect(holderIn({ client_id: 'gatehouse', scope })).toEqual(expect.any(String));
    },
  );

  it.each<[string, object]>([
    ...['client_id', 'client_name', 'grant_id', 'scope'].flatMap((name): [string, object][] => [
      [`no ${name}`, { [name]: undefined }],
      [`${name} empty`, { [name]: '' }],
      [`${name} as a list`, { [name]: ['gatehouse'] }],
      [`${name} as an object`, { [name]: { toString: () => 'gatehouse' } }],
      [`${name} of another type`, { [name]: 7 }],
    ]),
    ...['client_id', 'client_name', 'grant_id'].map((name): [string, object] => [
      `${name} of 513 characters`,
      { [name]: 'x'.repeat(513) },
    ]),
    ...[
      ' ',
      ' notes:read',
      'notes:read ',
      'notes:read  notes:write',
      'notes:read\tnotes:write',
    ].map((scope): [string, object] => [`the scope ${JSON.stringify(scope)}`, { scope }]),
  ])('returns a reason for %s', (_what, changed) => {
    expect(holderIn({ ...CLAIMS, ...changed })).toEqual(expect.any(String));
  });

  it('accepts 512 characters', () => {
    const long = 'x'.repeat(512);
    expect(holderIn({ ...CLAIMS, client_id: long })).toMatchObject({ program: { id: long } });
  });
});

describe(requiredScopes.name, () => {
  it('reads the scopes of a call, and null where it names none', () => {
    expect(requiredScopes({ scope: 'notes:read notes:write' })).toEqual([
      'notes:read',
      'notes:write',
    ]);
    expect([requiredScopes({}), requiredScopes({ scope: undefined })]).toEqual([null, null]);
  });

  it.each(['', ' ', 'a  b', ' a', 'a\n', 'a"', null, 7, ['a']])('refuses the scope %j', (scope) => {
    expect(() => requiredScopes({ scope } as { scope: string })).toThrow(TypeError);
  });

  it.each(['notes:read', null, 5, true])('refuses %j in place of an object', (requirement) => {
    expect(() => requiredScopes(requirement as never)).toThrow('are an object: { scope }');
  });
});

describe(programRefusal.name, () => {
  it.each([[null], [[]], [['notes:write']]])('refuses no person (%j)', (required) => {
    expect(programRefusal(PERSON, required)).toBeNull();
  });

  it('refuses a program where the call names no scope', () => {
    expect(programRefusal(PROGRAM, null)).toMatchObject({ code: 'program-refused', scope: null });
  });

  it.each([[['notes:read']], [['notes:list', 'notes:read']]])('admits one with %j', (required) => {
    expect(programRefusal(PROGRAM, required)).toBeNull();
  });

  it.each(['notes', 'notes:*', '*', 'notes:read,x', 'NOTES:READ'])(
    'reads the scope %j as no other one',
    (scope) => {
      const refusal = programRefusal({ ...PROGRAM, scopes: [scope] }, ['notes:read']);
      expect(refusal).toMatchObject({ code: 'insufficient-scope' });
    },
  );

  it.each([
    [['notes:write'], 'notes:write notes:read notes:list'],
    [['notes:read', 'notes:write'], 'notes:read notes:write notes:list'],
    [['notes:readx'], 'notes:readx notes:read notes:list'],
    [['notes:rea'], 'notes:rea notes:read notes:list'],
    [['Notes:read'], 'Notes:read notes:read notes:list'],
  ])('names the scopes of the call and of the token where %j is missing', (required, scope) => {
    expect(programRefusal(PROGRAM, required)).toMatchObject({ code: 'insufficient-scope', scope });
  });
});
