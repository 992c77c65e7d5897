import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { call, type Json } from '../../helpers/client.js';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { GUILD_TOKEN, OLD_TOKEN, ScimFixture, TOKEN } from '../../fixtures/scim-fixture.js';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const METRICS_TOKEN = 'a-metrics-token-of-the-spec';

const fixture = await OffboardingFixture.open();
const scim = new ScimFixture(fixture);
const tokens = await AdminTokensFile.create();
const server = await fixture.start({
  ...KEYLESS,
  ...tokens.env,
  METRICS_TOKEN,
  AUTH_PROVIDERS_CONFIG_JSON: scim.providers(),
});
const admin = new AdminCalls(await adminUrlOf(server), tokens.operator);
afterAll(() => fixture.close());

describe('the SCIM endpoint', () => {
  const find = (filter: string, more = '') =>
    scim.send(server, 'GET', `/Users?filter=${encodeURIComponent(filter)}${more}`);

  it('gives a user name to one of 50 people who are renamed at once', async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, () => scim.add(server, { userName: randomUUID() })),
    );
    const renamed = [{ op: 'replace', path: 'userName', value: randomUUID() }];
    const answers = await Promise.all(ids.map((id) => scim.patch(server, id, renamed)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(49);
    for (const { status, body } of refused) {
      expect([status, body['scimType']]).toEqual([409, 'uniqueness']);
    }
  });

  it('performs the requests of Okta', async () => {
    const userName = `${randomUUID()}@Example.com`;
    expect((await scim.send(server, 'GET', '/Users?startIndex=1&count=2')).status).toBe(200);
    const none = await find(`userName eq "${userName}"`);
    expect(none.headers['content-type']).toBe('application/scim+json; charset=utf-8');
    expect(none.body).toMatchObject({ totalResults: 0, startIndex: 1, Resources: [] });
    const created = await scim.send(server, 'POST', '/Users', {
      body: {
        schemas: [USER],
        userName,
        name: { givenName: 'A', familyName: 'B' },
        emails: [{ primary: true, value: userName, type: 'work' }],
        displayName: 'A B',
        locale: 'en-US',
        externalId: '00ujl29u0le5T6Aj10h7',
        groups: [],
        password: '1mz050nq',
        active: true,
      },
    });
    expect(created.status).toBe(201);
    expect(created.text).not.toContain('1mz050nq');
    const { id, meta } = created.body;
    expect(meta).toMatchObject({
      resourceType: 'User',
      location: `http://127.0.0.1:1/v1/scim/people/v2/Users/${String(id)}`,
    });
    expect(created.headers['location']).toBe((meta as Json)['location']);
    const found = await find(`userName eq "${userName.toUpperCase()}"`);
    expect(found.body).toMatchObject({ totalResults: 1, Resources: [created.body] });
    const put = { ...created.body, active: false, displayName: 'A C' };
    expect(
      (await scim.send(server, 'PUT', `/Users/${String(id)}`, { body: put })).body,
    ).toMatchObject({ active: false, displayName: 'A C' });
    const op = [{ op: 'replace', value: { active: true } }];
    expect((await scim.patch(server, String(id), op)).body).toMatchObject({ active: true });
  });

  it('performs the requests of Microsoft Entra ID', async () => {
    const address = `${randomUUID()}@contoso.com`;
    const id = await scim.add(server, {
      schemas: [USER, ENTERPRISE],
      externalId: randomUUID(),
      userName: address,
      active: 'True',
      emails: [{ type: 'work', value: address, primary: true }],
      [ENTERPRISE]: { department: 'x', manager: '26118915' },
    });
    const patched = await scim.patch(server, id, [
      { op: 'Replace', path: 'emails[type eq "work"].value', value: `new-${address}` },
      { op: 'Add', path: 'emails[type eq "other"].value', value: `other-${address}` },
      { op: 'Replace', path: `${ENTERPRISE}:manager`, value: '2819c223' },
      { op: 'Add', path: 'roles[primary eq "True"].value', value: 'admin' },
      { op: 'Replace', path: 'name.familyName', value: 'Other' },
      { op: 'Remove', path: 'displayName' },
      { op: 'Add', value: { [`${ENTERPRISE}:department`]: 'y', displayName: 'D', nickName: 'd' } },
    ]);
    expect(patched.body).toMatchObject({
      displayName: 'D',
      emails: [
        { type: 'work', value: `new-${address}`, primary: true },
        { type: 'other', value: `other-${address}` },
      ],
    });
    const byMail = await find(`emails[type eq "work"].value eq "new-${address}"`);
    expect(byMail.body).toMatchObject({ totalResults: 1 });
    expect((await find(`emails[type eq "home"].value eq "new-${address}"`)).body).toMatchObject({
      totalResults: 0,
    });
    expect(
      (await find(`emails.value eq "other-${address}" and userName eq "${address}"`)).body,
    ).toMatchObject({
      totalResults: 1,
    });
    const soft = [{ op: 'Replace', path: 'active', value: 'False' }];
    expect((await scim.patch(server, id, soft)).body).toMatchObject({ active: false });
    expect((await scim.send(server, 'DELETE', `/Users/${id}`)).status).toBe(204);
    const gone = await scim.send(server, 'GET', `/Users/${id}`);
    expect(gone.body).toEqual({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '404',
      detail: 'There is no such resource.',
    });
  });

  it('describes itself, and returns the attributes that were asked for', async () => {
    const config = await scim.send(server, 'GET', '/ServiceProviderConfig');
    expect(config.body).toMatchObject({
      patch: { supported: true },
      bulk: { supported: false },
      etag: { supported: false },
    });
    expect((await scim.send(server, 'GET', '/ResourceTypes')).body).toMatchObject({
      totalResults: 1,
    });
    expect((await scim.send(server, 'GET', `/Schemas/${USER}`)).body).toMatchObject({ id: USER });
    const id = await scim.add(server, { userName: randomUUID(), displayName: 'D' });
    const some = await scim.send(server, 'GET', `/Users/${id}?attributes=userName,emails.value`);
    expect(Object.keys(some.body)).toEqual(['schemas', 'id', 'userName']);
    const others = await scim.send(server, 'GET', `/Users/${id}?excludedAttributes=meta,userName`);
    expect(Object.keys(others.body)).toEqual(['schemas', 'id', 'active', 'displayName']);
  });

  const badFilters = [
    'userName',
    'userName eq',
    'userName co "a"',
    'not (userName eq "a")',
    'userName eq "a" or id eq "b"',
    'password eq "a"',
    'active eq true',
    'userName eq "a\u0000b"',
    '('.repeat(900),
    `userName eq "${'a'.repeat(2000)}"`,
    'emails[type pr].value eq "a"',
    '__proto__ eq "a"',
    'emails[type eq "work"]',
  ];
  const namedFilters = badFilters.map((filter) => [JSON.stringify(filter.slice(0, 40)), filter]);
  it.each(namedFilters)('refuses the filter %s', async (_name, filter = '') => {
    const answer = await find(filter);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ status: '400', scimType: 'invalidFilter' });
  });

  it.each<[string, number, number]>([
    ['startIndex=999999999999999', 200, 0],
    ['startIndex=-4&count=1', 200, 1],
    ['count=0', 200, 0],
    ['count=-1', 200, 0],
    ['count=100000', 200, 3],
    ['startIndex=x', 400, 0],
    ['count=1.5', 400, 0],
    ['count=1&count=2', 400, 0],
  ])('answers a list with %s by %d', async (query, status, least) => {
    for (let people = 0; people < 3; people += 1) {
      await scim.add(server, { userName: randomUUID() });
    }
    const answer = await scim.send(server, 'GET', `/Users?${query}`);
    expect(answer.status).toBe(status);
    const { Resources: found = [] } = answer.body as { Resources?: unknown[] };
    expect(found.length).toBeGreaterThanOrEqual(least);
    expect(found.length).toBeLessThanOrEqual(200);
  });

  const badPatches: [string, unknown][] = [
    ['no operations', { schemas: [] }],
    ['an empty list', { Operations: [] }],
    ['too many', { Operations: Array.from({ length: 101 }, () => ({ op: 'add', path: 'x' })) }],
    ['another operation', { Operations: [{ op: 'move', path: 'active', value: true }] }],
    ['a removal without a path', { Operations: [{ op: 'remove' }] }],
    ['a path that is no text', { Operations: [{ op: 'add', path: 7, value: 1 }] }],
    ['a broken path', { Operations: [{ op: 'add', path: 'emails[type eq', value: 1 }] }],
    ['a broken filter', { Operations: [{ op: 'add', path: 'emails[type].value', value: 'a' }] }],
    ['active without a flag', { Operations: [{ op: 'replace', path: 'active', value: 'no' }] }],
    ['no active', { Operations: [{ op: 'remove', path: 'active' }] }],
    ['no user name', { Operations: [{ op: 'remove', path: 'userName' }] }],
    ['NUL', { Operations: [{ op: 'replace', path: 'userName', value: 'a\u0000' }] }],
    ['a name that is an object', { Operations: [{ op: 'replace', path: 'userName', value: {} }] }],
    ['a list', []],
    ['a text', '"text"'],
  ];
  it.each(badPatches)('refuses a PATCH with %s as a whole', async (_what, body) => {
    const id = await scim.add(server, { userName: randomUUID() });
    const operations = (body as { Operations?: unknown[] }).Operations;
    const whole =
      Array.isArray(operations) && operations.length === 1
        ? { Operations: [{ op: 'replace', path: 'displayName', value: 'X' }, ...operations] }
        : body;
    const answer = await scim.send(server, 'PATCH', `/Users/${id}`, { body: whole });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ status: '400' });
    expect((await scim.send(server, 'GET', `/Users/${id}`)).body).not.toHaveProperty('displayName');
  });

  it('changes no prototype', async () => {
    const id = await scim.add(server, { userName: randomUUID() });
    const op = (path: string) => ({ op: 'add', path, value: { polluted: true } });
    const paths = ['__proto__', '__proto__.polluted', 'emails.__proto__', 'constructor.prototype'];
    for (const path of paths) {
      expect((await scim.patch(server, id, [op(path)])).status).toBeLessThan(500);
    }
    const answer = await scim.send(server, 'GET', `/Users/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('polluted');
  });

  it.each([
    ['a wrong token', { token: 'x'.repeat(40) }, 401],
    ['the token of another directory', { token: GUILD_TOKEN }, 401],
    ['an unknown provider', { provider: 'unknown' }, 404],
    ['a provider without a directory', { provider: 'github' }, 404],
    ['the former token of a rotation', { token: OLD_TOKEN }, 200],
  ])('answers %s before it reads the body', async (_what, request, status) => {
    const answer = await scim.send(server, 'GET', '/Users', request);
    expect(answer.status).toBe(status);
    const large = await scim.send(server, 'POST', '/Users', {
      ...request,
      body: { userName: 'x', note: 'y'.repeat(300_000) },
    });
    expect(large.status).toBe(status === 200 ? 413 : status);
    expect(large.body).toMatchObject({ status: String(large.status) });
    expect(large.text + server.logs()).not.toContain('x'.repeat(40));
  });

  it('refuses other bodies, and accepts one of 200 KiB', async () => {
    const path = '/v1/scim/people/v2/Users';
    const post = (body: string, type: string) =>
      call(server, 'POST', path, { token: TOKEN, body, headers: { 'content-type': type } });
    const form = await post('a=b', 'application/x-www-form-urlencoded');
    expect([form.status, form.body['detail']]).toEqual([
      415,
      'Send a body of the type application/scim+json.',
    ]);
    const broken = await post('{', 'application/scim+json');
    expect([broken.status, broken.body['detail']]).toEqual([
      400,
      'Send valid JSON, without fields named __proto__ or constructor.prototype.',
    ]);
    expect((await post('', 'application/scim+json')).status).toBe(400);
    expect((await post('['.repeat(5000), 'application/json')).status).toBe(400);
    const note = 'y'.repeat(200_000);
    const kept = await post(JSON.stringify({ userName: randomUUID(), note }), 'application/json');
    expect(kept.status).toBe(201);
    expect(kept.text.length).toBeLessThan(1000);
    const other = { headers: { 'content-type': 'application/scim+json' }, body: '{}' };
    expect((await call(server, 'POST', '/v1/auth', other)).status).toBe(415);
    expect((await call(server, 'GET', path)).headers['www-authenticate']).toBe('Bearer');
  });

  it('applies two PATCHes of one person one after the other', async () => {
    const id = await scim.add(server, { userName: randomUUID() });
    const mail = (at: number): Json => ({
      op: 'add',
      path: 'emails',
      value: [{ value: `m${at}@x` }],
    });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => scim.patch(server, id, [mail(at)])),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { emails } = (await scim.send(server, 'GET', `/Users/${id}`)).body as {
      emails: unknown[];
    };
    expect(emails).toHaveLength(50);
  });

  it('counts the people, and the deactivations that raise the alarm', async () => {
    const off = [{ op: 'replace', path: 'active', value: false }];
    const deactivate = async () => {
      const person = { userName: randomUUID(), externalId: randomUUID() };
      return scim.patch(server, await scim.add(server, person), off);
    };
    await Promise.all(Array.from({ length: 21 }, deactivate));
    const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
    const valueOf = (series: string): number =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(series))
          ?.split(' ')
          .at(-1),
      );
    const people = 'gatehouse_directory_people{provider="people"';
    const deactivations = 'gatehouse_directory_deactivations{provider="people"';
    expect(valueOf(`${people},state="inactive"}`)).toBeGreaterThanOrEqual(21);
    expect(valueOf(`${deactivations},state="deactivated"}`)).toBeGreaterThanOrEqual(21);
    expect(valueOf(`${deactivations},state="limit"}`)).toBe(20);
  });

  it('explains a refusal to administrators, who end it by enabling the account', async () => {
    const person = await fixture.keylessLogin(server);
    const id = await scim.add(server, { userName: randomUUID(), externalId: person.sub });
    await scim.patch(server, id, [{ op: 'replace', path: 'active', value: false }]);
    const explained = await admin.get(`/accounts/${person.accountId}`);
    expect(explained.text).toContain('The directory deactivated the person on ');
    expect((await admin.act(person.accountId, 'enable')).status).toBe(200);
    const again = await fixture.keylessLogin(server, person.sub);
    expect(await fixture.statusOf(server, again)).toBe(200);
  });

  it('uses a token of a changed file, and no longer the removed one', async () => {
    const next = 'the-next-token-of-the-directory-of-the-spec';
    writeFileSync(scim.tokenFile, `${next}\n${TOKEN}\n`);
    await fixture.until('accepted', async () => {
      return (await scim.send(server, 'GET', '/Users?count=0', { token: next })).status === 200;
    });
    expect((await scim.send(server, 'GET', '/Users', { token: OLD_TOKEN })).status).toBe(401);
    expect((await scim.send(server, 'GET', '/Users?count=0')).status).toBe(200);
  });
});
