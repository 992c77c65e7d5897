import { randomBytes, randomUUID } from 'node:crypto';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { ScimFixture, TOKEN } from '../../fixtures/scim-fixture.js';
import { call, type Json } from '../../helpers/client.js';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

const fixture = await OffboardingFixture.open();
const scim = new ScimFixture(fixture);
const server = await fixture.start({
  ...KEYLESS,
  AUTH_PROVIDERS_CONFIG_JSON: scim.providers(),
  AUTH_ACCESS_CACHE_SECONDS: '0',
});
afterAll(() => fixture.close());

/** 3,000 bytes that cannot be compressed. */
const longName = (): string =>
  Array.from(randomBytes(1000), (byte, at) =>
    String.fromCodePoint(0x4e00 + byte * 60 + (at % 60)),
  ).join('');
const read = (id: string) => scim.send(server, 'GET', `/Users/${id}`);
const put = (id: string, body: Json) => scim.send(server, 'PUT', `/Users/${id}`, { body });

describe('a request that deactivates a person', () => {
  it.each<[string, Json]>([
    ['the path active', { path: 'active', value: false }],
    ['a text of Microsoft Entra ID', { path: 'active', value: 'False' }],
    ['blanks and capitals', { op: ' Replace ', path: ' Active ', value: ' FALSE ' }],
    ['a JSON pointer', { path: '/active', value: false }],
    ['the URN', { path: `${USER}:active`, value: false }],
    ['the URN and a slash', { path: `${USER}/active`, value: false }],
    ['the URN as the path', { path: USER, value: { active: false } }],
    ['no path', { value: { active: false } }],
    ['no path and the URN', { value: { [`${USER}:active`]: 'false' } }],
    ['no path and the URN around it', { value: { [USER]: { active: false } } }],
    ['a list of values', { path: 'active', value: [{ value: 'False' }] }],
    ['an object', { path: 'active', value: { value: false } }],
    ['add', { op: 'add', path: 'active', value: false }],
  ])('is recognised with %s', async (_what, operation) => {
    const person = await fixture.keylessLogin(server);
    const id = await scim.add(server, { userName: randomUUID(), externalId: person.sub });
    const answer = await scim.patch(server, id, [{ op: 'replace', ...operation }]);
    expect([answer.status, answer.body['active']]).toEqual([200, false]);
    expect(await fixture.statusOf(server, person)).toBe(401);
  });

  const many = Array.from({ length: 51 }, (_, at) => ({ value: `m${at}@example.com` }));
  const unusable: [string, Json][] = [
    ['a number as externalId', { externalId: 4711 }],
    ['an object as displayName', { displayName: { text: 'Ada' } }],
    ['a primary address that is no flag', { emails: [{ value: 'a@example.com', primary: 'yes' }] }],
    ['51 addresses', { emails: many }],
    ['NUL in the userName', { userName: 'a\u0000b' }],
    ['no userName', { userName: '' }],
    ['a long displayName', { displayName: 'x'.repeat(2000) }],
    ['a userName that no index holds', { userName: longName() }],
    ['an externalId that no index holds', { externalId: longName() }],
    ['an address that no index holds', { emails: [{ value: longName() }] }],
    ['half a character', { displayName: '\ud800' }],
  ];
  it.each(unusable)('is not lost to %s', async (_what, attributes) => {
    const person = await fixture.keylessLogin(server);
    const kept = {
      ...{ userName: randomUUID(), externalId: person.sub, displayName: 'Ada' },
      emails: [{ value: 'ada@example.com', type: 'work' }],
    };
    const id = await scim.add(server, kept);
    expect((await scim.patch(server, id, [{ op: 'replace', value: attributes }])).status).toBe(400);
    expect((await put(id, { ...kept, ...attributes })).status).toBe(400);
    expect(await fixture.statusOf(server, person)).toBe(200);

    const end = [{ op: 'replace', value: { ...attributes, active: false } }];
    const patched = await scim.patch(server, id, end);
    expect(patched.status).toBe(200);
    expect(patched.body).toMatchObject({ ...kept, active: false });
    expect(await fixture.statusOf(server, person)).toBe(401);
    await server.logged(new RegExp(`cannot be used"[^}]*"person":"${id}"`));

    expect((await put(id, { active: true })).status).toBe(200);
    const again = await fixture.keylessLogin(server, person.sub);
    const replaced = await put(id, { ...kept, ...attributes, active: 'False' });
    expect(replaced.body).toMatchObject({ ...kept, active: false });
    expect(await fixture.statusOf(server, again)).toBe(401);
  });

  it('is not lost to malformed operations, nor to their number', async () => {
    const malformed = [7, { op: 'move', path: 'x' }, { op: 'add', path: 7 }, { op: 'remove' }];
    const many = Array.from({ length: 101 }, () => ({ op: 'add', path: 'title', value: 'x' }));
    for (const others of [malformed, many]) {
      const person = await fixture.keylessLogin(server);
      const id = await scim.add(server, { userName: randomUUID(), externalId: person.sub });
      const operations = [...others, { op: 'replace', path: 'active', value: false }];
      const answer = await scim.patch(server, id, operations as Json[]);
      expect([answer.status, answer.body['active']]).toEqual([200, false]);
      expect(await fixture.statusOf(server, person)).toBe(401);
    }
  });

  it('is not lost to a userName of another person, by 50 requests at once', async () => {
    const taken = randomUUID();
    await scim.add(server, { userName: taken });
    const person = await fixture.keylessLogin(server);
    const userName = randomUUID();
    const id = await scim.add(server, { userName, externalId: person.sub });
    const rename = [{ op: 'replace', path: 'userName', value: taken }];
    expect((await scim.patch(server, id, rename)).status).toBe(409);
    const end = [...rename, { op: 'replace', path: 'active', value: false }];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        at % 2 === 0
          ? scim.patch(server, id, end)
          : put(id, { userName: taken, externalId: person.sub, active: false }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await read(id)).body).toMatchObject({ userName, active: false });
    expect(await fixture.statusOf(server, person)).toBe(401);
    const { rows } = await fixture.sql.query(
      `SELECT 1 FROM audit_event WHERE kind = 'directory-deactivated' AND account_id = $1`,
      [person.accountId],
    );
    expect(rows).toHaveLength(1);
  });

  it('creates an inactive person without the attributes that cannot be used', async () => {
    const sub = randomUUID();
    const body = { userName: randomUUID(), externalId: sub, displayName: {}, active: false };
    const answer = await scim.send(server, 'POST', '/Users', { body });
    expect([answer.status, answer.body['active']]).toEqual([201, false]);
    await expect(fixture.keylessLogin(server, sub)).rejects.toThrow();
    const active = { ...body, userName: randomUUID(), active: true };
    expect((await scim.send(server, 'POST', '/Users', { body: active })).status).toBe(400);
    const unnamed = { externalId: randomUUID(), active: false };
    expect((await scim.send(server, 'POST', '/Users', { body: unnamed })).status).toBe(400);
  });

  it.each<[string, Json]>([
    ['changes', { externalId: 'another' }],
    ['removes', { externalId: null }],
  ])('is about the person of the id that it %s', async (_what, change) => {
    for (const match of ['externalId', 'oid']) {
      const [sub, oid] = [randomUUID(), randomUUID()];
      fixture.provider.oids.set(sub, oid);
      const there =
        match === 'oid'
          ? await fixture.start({
              ...KEYLESS,
              AUTH_PROVIDERS_CONFIG_JSON: scim.providers({ match }),
            })
          : server;
      const externalId = match === 'oid' ? oid : sub;
      const id = await scim.add(there, { userName: randomUUID(), externalId });
      const end = [{ op: 'replace', value: { ...change, active: false } }];
      expect((await scim.patch(there, id, end)).status).toBe(200);
      await expect(fixture.keylessLogin(there, sub)).rejects.toThrow();
    }
  });
});

describe('a PUT without an attribute', () => {
  it('keeps what links the person', async () => {
    const sub = randomUUID();
    const kept = {
      ...{ userName: randomUUID(), externalId: sub },
      emails: [{ value: `${sub}@example.com`, type: 'work' }],
    };
    const id = await scim.add(server, kept);
    for (const body of [{ displayName: 'Ada' }, { displayName: 'Ada', externalId: null }]) {
      const { status, body: answer } = await put(id, body);
      expect(status).toBe(200);
      expect(answer).toMatchObject({ ...kept, displayName: 'Ada', active: true });
    }
    expect((await put(id, { emails: [] })).body).not.toHaveProperty('emails');
    expect((await put(id, { active: false })).status).toBe(200);
    await expect(fixture.keylessLogin(server, sub)).rejects.toThrow();
  });
});

describe('parts of SCIM that this server does not have', () => {
  it('answers an empty list of groups', async () => {
    const { status, body } = await scim.send(
      server,
      'GET',
      '/Groups?filter=displayName%20eq%20"a"',
    );
    expect([status, body['totalResults'], body['Resources']]).toEqual([200, 0, []]);
  });

  it.each<[string, string, number]>([
    ['POST', '/Groups', 501],
    ['POST', '/Groups/', 501],
    ['GET', '/Groups/one', 501],
    ['PUT', '/Groups/one', 501],
    ['PATCH', '/Groups/one', 501],
    ['DELETE', '/Groups/one', 501],
    ['POST', '/Bulk', 501],
    ['GET', '/Me', 501],
    ['POST', '/.search', 501],
    ['GET', '/Devices', 404],
    ['GET', '/', 404],
    ['PUT', '/Users', 404],
  ])('answers %s %s with a SCIM error of the status %d', async (method, path, status) => {
    const body = method === 'GET' || method === 'DELETE' ? undefined : { displayName: 'a' };
    const answer = await scim.send(server, method, path, { body });
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toContain('application/scim+json');
    expect(answer.body).toMatchObject({ schemas: [ERROR], status: String(status) });
    const unknown = await scim.send(server, method, path, { body, token: 'x'.repeat(40) });
    expect(unknown.status).toBe(401);
  });

  it('serves the same resources with a slash at the end', async () => {
    const body = { userName: randomUUID() };
    const made = await scim.send(server, 'POST', '/Users/', { body });
    expect(made.status).toBe(201);
    const id = String(made.body['id']);
    expect((await read(`${id}/`)).body).toEqual(made.body);
    const filter = encodeURIComponent(`userName eq "${body.userName}"`);
    const found = await scim.send(server, 'GET', `/Users/?filter=${filter}`);
    expect(found.body['totalResults']).toBe(1);
    expect((await scim.send(server, 'GET', `/Schemas/${USER}/`)).status).toBe(200);
    expect((await scim.send(server, 'DELETE', `/Users/${id}/`)).status).toBe(204);
    expect((await call(server, 'GET', '/v1/features/')).status).toBe(404);
  });

  it('accepts the token of the directory without a scheme', async () => {
    const listWith = async (authorization: string): Promise<number> =>
      (await call(server, 'GET', '/v1/scim/people/v2/Users', { headers: { authorization } }))
        .status;
    expect(await listWith(TOKEN)).toBe(200);
    expect(await listWith(`bearer  ${TOKEN}`)).toBe(200);
    expect(await listWith(`Basic ${TOKEN}`)).toBe(401);
    expect(await listWith('x'.repeat(40))).toBe(401);
    expect(await listWith('Bearer')).toBe(401);
  });
});
