import { randomUUID } from 'node:crypto';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { GUILD_TOKEN, ScimFixture, TOKEN } from '../../fixtures/scim-fixture.js';
import { call, type Answer, type Json } from '../../helpers/client.js';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

const fixture = await OffboardingFixture.open();
const scim = new ScimFixture(fixture);
const server = await fixture.start({ ...KEYLESS, AUTH_PROVIDERS_CONFIG_JSON: scim.providers() });
afterAll(() => fixture.close());

describe('SCIM clients', () => {
  const get = (path: string) => scim.send(server, 'GET', path);
  const find = (filter: string, more = '') =>
    get(`/Users?filter=${encodeURIComponent(filter)}${more}`);
  /** The collections of Okta send their bodies as application/json. */
  const send = (method: string, path: string, body: Json): Promise<Answer> =>
    call(server, method, `/v1/scim/people/v2${path}`, { token: TOKEN, body });
  const personOf = (userName: string, email: string): Json => ({
    schemas: [USER],
    userName,
    name: { givenName: 'Given', familyName: 'Family' },
    emails: [{ primary: true, value: email, type: 'work' }],
    displayName: 'Given Family',
    active: true,
  });

  it('answers the requests of the SPEC collection of Okta in their order', async () => {
    const email = `${randomUUID()}@example.com`;
    const userName = `Okta.${randomUUID()}@example.com`;
    await scim.add(server, personOf(randomUUID(), `${randomUUID()}@example.com`));
    const first = await get('/Users?count=1&startIndex=1');
    expect(first.body).toMatchObject({ schemas: [LIST], itemsPerPage: 1, startIndex: 1 });
    const [known] = first.body['Resources'] as Json[];
    expect(known).toMatchObject({ active: true, emails: [{ value: expect.any(String) }] });
    expect((await get(`/Users/${String(known?.['id'])}`)).body).toEqual(known);
    expect((await find('userName eq "nobody@example.com"')).body).toMatchObject({
      schemas: [LIST],
      totalResults: 0,
    });
    for (const id of [randomUUID(), '010101001010101011001010101011']) {
      const unknown = await get(`/Users/${id}`);
      expect([unknown.status, unknown.body['schemas']]).toEqual([404, [ERROR]]);
      expect(unknown.body['detail']).toBeTruthy();
    }
    const created = await send('POST', '/Users', personOf(userName, email));
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ schemas: [USER], active: true, userName });
    const id = String(created.body['id']);
    expect((await get(`/Users/${id}`)).body).toMatchObject({ userName });
    const again = await send('POST', '/Users', personOf(userName, email));
    expect([again.status, again.body['scimType']]).toEqual([409, 'uniqueness']);
    expect((await find(`userName eq "${userName.toUpperCase()}"`)).body).toMatchObject({
      totalResults: 1,
    });
    expect((await get('/Groups')).body).toMatchObject({ schemas: [LIST], totalResults: 0 });
  });

  it('performs the example requests of RFC 7644', async () => {
    const id = await scim.add(server, { userName: randomUUID(), displayName: 'Barbara' });
    const patches: Json[][] = [
      [
        {
          op: 'add',
          value: { emails: [{ value: 'babs@jensen.org', type: 'home' }], nickname: 'B' },
        },
      ],
      [{ op: 'replace', path: 'emails[type eq "work"].value', value: 'bjensen@example.com' }],
      [{ op: 'replace', path: 'emails[type eq "home"]', value: { value: 'b@example.org' } }],
      [{ op: 'remove', path: 'emails[type eq "work" and value ew "example.com"]' }],
      [{ op: 'add', path: 'name.familyName', value: 'Jensen' }],
      [{ op: 'remove', path: 'members[value eq "2819c223"]' }],
    ];
    for (const operations of patches) {
      expect((await scim.patch(server, id, operations)).status).toBe(200);
    }
    const { body } = await get(`/Users/${id}?attributes=emails`);
    expect(body).toMatchObject({ emails: [{ type: 'home', value: 'b@example.org' }] });
    expect(body).not.toHaveProperty('userName');
    expect((await get(`/Users/${id}?excludedAttributes=emails`)).body).not.toHaveProperty('emails');
    const filters = ['userName sw "J"', 'meta.lastModified gt "2011-05-13T04:42:34Z"'];
    for (const filter of filters) {
      const refused = await find(filter);
      expect([refused.status, refused.body['scimType']]).toEqual([400, 'invalidFilter']);
    }
  });

  it.each([16_384, 262_000])('accepts a body of %d bytes', async (bytes) => {
    const note = 'x'.repeat(bytes - 100);
    expect((await send('POST', '/Users', { userName: randomUUID(), note })).status).toBe(201);
  });

  it.each([270_000, 1_048_576, 10_485_760])('refuses a body of %d bytes', async (bytes) => {
    const note = 'x'.repeat(bytes);
    // A client that goes on sending may see the end of the connection first.
    const answer = await send('POST', '/Users', { userName: randomUUID(), note }).catch(() => null);
    expect(answer === null || answer.status === 413).toBe(true);
    expect((await get('/Users?count=0')).status).toBe(200);
  });

  it('bounds a page of all people, and answers one beyond the end', async () => {
    await fixture.sql.query(
      `INSERT INTO directory_person (id, provider, user_name, is_active, emails, email_values,
         created_at, changed_at)
       SELECT gen_random_uuid(), 'people', 'many-' || n, true, '[]', '{}', now(), now()
       FROM generate_series(1, 300) AS n`,
    );
    const all = await get('/Users?count=100000');
    const total = Number(all.body['totalResults']);
    expect(total).toBeGreaterThanOrEqual(300);
    expect(all.body).toMatchObject({ itemsPerPage: 200 });
    for (const startIndex of [total + 1, 1_000_000_000]) {
      const beyond = await get(`/Users?startIndex=${startIndex}`);
      expect(beyond.body).toMatchObject({ totalResults: total, itemsPerPage: 0, Resources: [] });
    }
    for (const query of ['startIndex=-5&count=1', 'count=-1', 'startIndex=0&count=1']) {
      expect((await get(`/Users?${query}`)).status).toBe(200);
    }
    expect((await get('/Users?startIndex=x')).status).toBe(400);
  });

  it('gives no access by the token of a directory', async () => {
    const person = await fixture.keylessLogin(server);
    const id = await scim.add(server, { userName: randomUUID(), externalId: person.sub });
    fixture.provider.groups.delete(person.sub);
    await fixture.makeDue();
    await fixture.until('403', async () => (await fixture.statusOf(server, person)) === 403);
    const on = [{ op: 'replace', path: 'active', value: true }];
    expect((await scim.patch(server, id, on)).status).toBe(200);
    expect(await fixture.statusOf(server, person)).toBe(403);
    expect((await call(server, 'GET', '/v1/account/sessions', { token: TOKEN })).status).toBe(401);
    const other = await scim.patch(server, id, on, { token: GUILD_TOKEN });
    expect(other.status).toBe(401);
    const foreign = await scim.patch(server, id, on, { token: GUILD_TOKEN, provider: 'guild' });
    expect(foreign.status).toBe(404);
  });
});
