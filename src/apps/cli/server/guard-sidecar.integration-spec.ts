import { GuardFixture } from '../../../../test/fixtures/guard-fixture.js';
import { GuardSidecar } from './guard-sidecar.js';

const PROGRAM = { id: 'https://editor.test/client.json', scope: 'notes:read notes:list' };

let fixture: GuardFixture;
let sidecar: GuardSidecar;
beforeAll(async () => {
  fixture = await GuardFixture.start();
  sidecar = await GuardSidecar.start(await fixture.readyGuard(), 0);
});
afterAll(async () => {
  await sidecar.close();
  await fixture.close();
});

async function verify(token: string, query = '', more: Readonly<Record<string, string>> = {}) {
  const headers = { authorization: `Bearer ${token}`, ...more };
  const answer = await fetch(`${sidecar.url}/verify${query}`, { headers });
  const body = (await answer.json()) as Readonly<Record<string, unknown>>;
  return { status: answer.status, program: answer.headers.get('x-gatehouse-program'), body };
}

describe(GuardSidecar.name, () => {
  it.each([
    ['', 403, 'program-refused'],
    ['?scope=notes:write', 403, 'insufficient-scope'],
    ['?scope=', 400, 'invalid-request'],
    ['?scope=notes:read++notes:list', 400, 'invalid-request'],
    ['?scope=notes:read&scope=notes:list', 400, 'invalid-request'],
    ['?SCOPE=notes:read', 403, 'program-refused'],
  ])('refuses a program with the query %j', async (query, status, code) => {
    const token = await fixture.issuer.token({ program: PROGRAM });
    expect(await verify(token, query)).toMatchObject({ status, body: { code } });
  });

  it.each(['?scope=notes:read', '?scope=notes:list+notes:read', '?scope=notes:read%20notes:list'])(
    'admits a program with the query %j',
    async (query) => {
      const token = await fixture.issuer.token({ account: 'ada', program: PROGRAM });
      expect(await verify(token, query)).toMatchObject({
        ...{ status: 200, program: encodeURIComponent(PROGRAM.id) },
        body: { account: 'ada', program: { id: PROGRAM.id }, scopes: ['notes:read', 'notes:list'] },
      });
    },
  );

  it.each([
    ['?scope=notes:read', '/notes?scope=notes:read', 403, 'program-refused'],
    ['?a=1&scope=notes:read', '/notes?a=1&scope=notes%3Aread', 403, 'program-refused'],
    ['?a?b&scope=notes:read', '/notes?a?b&scope=notes:read', 403, 'program-refused'],
    ['?scope=notes:read?', '/notes?scope=notes:read?', 403, 'program-refused'],
    ['?scope=notes:write', '/notes?scope=notes:read', 403, 'insufficient-scope'],
    ['?scope=notes:read', '/notes', 200, undefined],
  ])('lets no client choose the scope: %j for %j', async (query, uri, status, code) => {
    const token = await fixture.issuer.token({ program: PROGRAM });
    const forwarded = { 'x-forwarded-uri': uri };
    expect(await verify(token, query, forwarded)).toMatchObject({
      status,
      body: code ? { code } : {},
    });
  });

  it.each(['', '?scope=notes:write'])('admits a person with the query %j', async (query) => {
    const token = await fixture.issuer.token({ account: 'ada' });
    expect(await verify(token, query)).toMatchObject({
      ...{ status: 200, program: '', body: { account: 'ada', program: null, scopes: [] } },
    });
  });
});
