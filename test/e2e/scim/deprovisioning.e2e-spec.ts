import { randomUUID } from 'node:crypto';
import { connect } from '../../helpers/client-live.js';
import { call, type Json } from '../../helpers/client.js';
import { finish } from '../../helpers/keyless-calls.js';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { begin } from '../../fixtures/provider-login-fixture.js';
import { GUILD_TOKEN, ScimFixture } from '../../fixtures/scim-fixture.js';

const INACTIVE = [{ op: 'replace', value: { active: false } }];
const ACTIVE = [{ op: 'replace', value: { active: true } }];

describe('deprovisioning by SCIM', () => {
  let fixture: OffboardingFixture;
  let scim: ScimFixture;
  let one: Server;
  let other: Server;

  beforeAll(async () => {
    fixture = await OffboardingFixture.open();
    scim = new ScimFixture(fixture);
    const env = {
      ...KEYLESS,
      AUTH_PROVIDERS_CONFIG_JSON: scim.providers(),
      AUTH_ACCESS_CACHE_SECONDS: '15',
    };
    one = await fixture.start(env);
    other = await fixture.another(env);
  });
  afterAll(() => fixture.close());

  const auditOf = async (kind: string, where: string, value: string): Promise<Json[]> =>
    (
      await fixture.sql.query<Json>(
        `SELECT actor, provider, reason, subject FROM audit_event WHERE kind = $1 AND ${where} = $2`,
        [kind, value],
      )
    ).rows;

  it('ends sessions and closes sockets on every replica at active: false', async () => {
    const person = await fixture.keylessLogin(one);
    const live = await connect(other, { token: person.token });
    await live.next('hello');
    const id = await scim.add(one, { userName: randomUUID(), externalId: person.sub });
    expect(await fixture.statusOf(other, person)).toBe(200);

    expect((await scim.patch(one, id, INACTIVE)).body).toMatchObject({ id, active: false });
    expect(['token-revoked', 'not-eligible']).toContain((await live.next('closing'))['code']);
    await fixture.until('401', async () => (await fixture.statusOf(other, person)) === 401);
    expect(await auditOf('directory-deactivated', 'account_id', person.accountId)).toEqual([
      { actor: 'provider', provider: 'people', reason: null, subject: person.sub },
    ]);
    await expect(fixture.keylessLogin(other, person.sub)).rejects.toThrow();

    await fixture.makeDue();
    await fixture.until('checked', () => (fixture.provider.checks.get(person.sub) ?? 0) > 0);
    await expect(fixture.keylessLogin(one, person.sub)).rejects.toThrow();

    expect((await scim.patch(one, id, ACTIVE)).status).toBe(200);
    const again = await fixture.keylessLogin(other, person.sub);
    expect(again.accountId).toBe(person.accountId);
    expect(await fixture.statusOf(one, again)).toBe(200);
  });

  it('ends access also where the clock was set back since the activation', async () => {
    const person = await fixture.keylessLogin(one);
    const id = await scim.add(one, { userName: randomUUID(), externalId: person.sub });
    await fixture.sql.query(
      `UPDATE identity_signal SET at = at + interval '1 hour' WHERE subject = $1`,
      [person.sub],
    );
    expect((await scim.patch(one, id, INACTIVE)).status).toBe(200);
    await fixture.until('401', async () => (await fixture.statusOf(other, person)) === 401);
    await expect(fixture.keylessLogin(one, person.sub)).rejects.toThrow();
  });

  it('keeps a deleted person out, also one who had never logged in', async () => {
    const person = await fixture.keylessLogin(one);
    const id = await scim.add(one, { userName: randomUUID(), externalId: person.sub });
    expect((await scim.send(one, 'DELETE', `/Users/${id}`)).status).toBe(204);
    expect((await scim.send(one, 'DELETE', `/Users/${id}`)).status).toBe(404);
    await fixture.until('401', async () => (await fixture.statusOf(other, person)) === 401);
    await expect(fixture.keylessLogin(one, person.sub)).rejects.toThrow();

    const stranger = randomUUID();
    const unknown = await scim.add(one, { userName: randomUUID(), externalId: stranger });
    expect((await scim.patch(one, unknown, INACTIVE)).status).toBe(200);
    expect(await auditOf('directory-deactivated', 'subject', stranger)).toEqual([
      { actor: 'provider', provider: 'people', reason: 'unmatched', subject: stranger },
    ]);
    await expect(fixture.keylessLogin(one, stranger)).rejects.toThrow();
    expect((await scim.send(one, 'DELETE', `/Users/${unknown}`)).status).toBe(204);
    await expect(fixture.keylessLogin(one, stranger)).rejects.toThrow();
  });

  it('follows the link of a first match after the name has changed', async () => {
    const person = await fixture.keylessLogin(one);
    const id = await scim.add(one, { userName: randomUUID(), externalId: person.sub });
    const renamed = [{ op: 'replace', value: { externalId: randomUUID(), userName: 'new' } }];
    expect((await scim.patch(one, id, renamed)).status).toBe(200);
    expect((await scim.patch(one, id, INACTIVE)).status).toBe(200);
    await fixture.until('401', async () => (await fixture.statusOf(one, person)) === 401);
  });

  it('deactivates no one by a match that is not unique', async () => {
    const person = await fixture.keylessLogin(one);
    const add = () => scim.add(one, { userName: randomUUID(), externalId: person.sub });
    const [first, second] = [await add(), await add()];
    expect((await scim.patch(one, second, INACTIVE)).status).toBe(200);
    expect(await fixture.statusOf(one, person)).toBe(200);
    expect(await auditOf('directory-deactivated', 'subject', person.sub)).toEqual([
      { actor: 'provider', provider: 'people', reason: 'ambiguous', subject: person.sub },
    ]);
    expect((await scim.patch(one, first, INACTIVE)).status).toBe(200);
    await fixture.until('401', async () => (await fixture.statusOf(one, person)) === 401);
  });

  it('readmits no leaver whose entry lost its id before it was given to another person', async () => {
    const leaver = await fixture.keylessLogin(one);
    const id = await scim.add(one, { userName: randomUUID(), externalId: leaver.sub });
    const end = [{ op: 'replace', value: { externalId: null, active: false } }];
    expect((await scim.patch(one, id, end)).status).toBe(200);
    await fixture.until('401', async () => (await fixture.statusOf(one, leaver)) === 401);

    const sub = randomUUID();
    const given = [{ op: 'replace', value: { externalId: sub, active: true } }];
    expect((await scim.patch(one, id, given)).status).toBe(200);
    await expect(fixture.keylessLogin(one, leaver.sub)).rejects.toThrow();
    const successor = await fixture.keylessLogin(one, sub);
    expect((await scim.patch(one, id, INACTIVE)).status).toBe(200);
    await fixture.until('401', async () => (await fixture.statusOf(one, successor)) === 401);
    await expect(fixture.keylessLogin(one, sub)).rejects.toThrow();
  });

  it('has one effect for 50 deactivations of one person at once', async () => {
    const person = await fixture.keylessLogin(one);
    const id = await scim.add(one, { userName: randomUUID(), externalId: person.sub });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => scim.patch(at % 2 === 0 ? one : other, id, INACTIVE)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await auditOf('directory-deactivated', 'account_id', person.accountId)).toHaveLength(1);
    expect(await auditOf('token-revoked', 'account_id', person.accountId)).toHaveLength(1);
  });

  it('creates a user name once for 50 requests at once', async () => {
    const body = { userName: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => scim.send(one, 'POST', '/Users', { body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array<number>(49).fill(409),
    ]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ status: '409', scimType: 'uniqueness' });
  });

  it('announces the removal of the push tokens of ended sessions', async () => {
    const person = await fixture.keylessLogin(one);
    const guildSub = randomUUID();
    expect((await fixture.connect(one, person, 'guild', guildSub)).status).toBe(200);
    const { url, proof } = await begin(one, 'guild', { mode: 'keyless' });
    const pending = await fixture.pendingOf(one, fixture.provider.authorize(url, guildSub));
    const other = (await finish(one, { pending, proof }, 'guild')).body;
    expect(other['accountId']).toBe(person.accountId);
    const body = { token: 'ExponentPushToken[of-the-spec]' };
    const added = await call(one, 'POST', '/v1/push-tokens', { token: person.token, body });
    expect(added.status).toBe(200);
    const live = await connect(one, { token: String(other['token']) });
    await live.next('hello');

    const id = await scim.add(one, { userName: randomUUID(), externalId: person.sub });
    expect((await scim.patch(one, id, INACTIVE)).status).toBe(200);
    const updates = [await live.next('update'), await live.next('update')];
    const kinds = updates.map((update) => (update['body'] as Json)['t']);
    expect(kinds).toEqual(['identities-changed', 'push-tokens-changed']);
    const tokens = await call(one, 'GET', '/v1/push-tokens', { token: String(other['token']) });
    expect(tokens.text).not.toContain('ExponentPushToken');
    live.close();
  });

  it('keeps the people of two directories apart', async () => {
    const id = await scim.add(one, { userName: randomUUID() });
    const guild = { provider: 'guild', token: GUILD_TOKEN };
    expect((await scim.send(one, 'GET', `/Users/${id}`, guild)).status).toBe(404);
    expect((await scim.patch(one, id, INACTIVE, guild)).status).toBe(404);
    expect((await scim.send(one, 'DELETE', `/Users/${id}`, guild)).status).toBe(404);
    expect((await scim.send(one, 'GET', `/Users/${id}`, { token: GUILD_TOKEN })).status).toBe(401);
    expect((await scim.send(one, 'GET', `/Users/${id}`)).status).toBe(200);
  });
});

describe('a required directory', () => {
  let fixture: OffboardingFixture;
  let scim: ScimFixture;
  let server: Server;

  beforeAll(async () => {
    fixture = await OffboardingFixture.open();
    scim = new ScimFixture(fixture);
    server = await fixture.start({
      ...KEYLESS,
      AUTH_PROVIDERS_CONFIG_JSON: scim.providers({ required: true }),
      AUTH_ACCESS_CACHE_SECONDS: '0',
    });
  });
  afterAll(() => fixture.close());

  it('admits only people whom the directory shows as active, once it shows any', async () => {
    const early = await fixture.keylessLogin(server);
    const listed = randomUUID();
    const id = await scim.add(server, { userName: randomUUID(), externalId: listed });
    await fixture.until('403', async () => (await fixture.statusOf(server, early)) === 403);
    await expect(fixture.keylessLogin(server)).rejects.toThrow();
    const person = await fixture.keylessLogin(server, listed);
    expect(await fixture.statusOf(server, person)).toBe(200);
    await scim.add(server, { userName: randomUUID(), externalId: early.sub });
    await fixture.until('200', async () => (await fixture.statusOf(server, early)) === 200);
    expect((await scim.patch(server, id, INACTIVE)).status).toBe(200);
    await fixture.until('401', async () => (await fixture.statusOf(server, person)) === 401);
  });

  it.each([true, false])(
    'keeps a person in whose id another entry lost that had it by mistake (active: %s)',
    async (active) => {
      const externalId = randomUUID();
      await scim.add(server, { userName: randomUUID(), externalId });
      const person = await fixture.keylessLogin(server, externalId);
      const twin = await scim.add(server, { userName: randomUUID(), externalId, active });
      const corrected = [{ op: 'replace', value: { externalId: randomUUID() } }];
      expect((await scim.patch(server, twin, corrected)).status).toBe(200);
      expect(await fixture.statusOf(server, person)).toBe(200);
    },
  );

  it('ends the access of a person whose entry it gives to another one', async () => {
    const former = randomUUID();
    const id = await scim.add(server, { userName: randomUUID(), externalId: former });
    const person = await fixture.keylessLogin(server, former);
    const given = randomUUID();
    const changed = [{ op: 'replace', value: { externalId: given } }];
    expect((await scim.patch(server, id, changed)).status).toBe(200);
    expect(await fixture.statusOf(server, await fixture.keylessLogin(server, given))).toBe(200);
    expect(await fixture.statusOf(server, person)).toBe(403);
  });

  it('admits no one after the directory was emptied', async () => {
    const people = await scim.send(server, 'GET', '/Users?count=100');
    const listed = people.body['Resources'] as readonly { readonly id: string }[];
    for (const { id } of listed) {
      expect((await scim.send(server, 'DELETE', `/Users/${id}`)).status).toBe(204);
    }
    const none = await scim.send(server, 'GET', '/Users');
    expect(none.body['totalResults']).toBe(0);
    const sub = randomUUID();
    await expect(fixture.keylessLogin(server, sub)).rejects.toThrow();
    const { rows } = await fixture.sql.query(
      `SELECT kind, reason FROM audit_event WHERE provider = 'people' AND subject = $1`,
      [sub],
    );
    expect(rows).toEqual([{ kind: 'login-refused', reason: 'directory_missing' }]);
  });
});

describe('a directory of Microsoft Entra ID', () => {
  let fixture: OffboardingFixture;
  let scim: ScimFixture;
  let server: Server;

  beforeAll(async () => {
    fixture = await OffboardingFixture.open();
    scim = new ScimFixture(fixture);
    server = await fixture.start({
      ...KEYLESS,
      AUTH_PROVIDERS_CONFIG_JSON: scim.providers({ match: 'oid' }),
      AUTH_ACCESS_CACHE_SECONDS: '0',
    });
  });
  afterAll(() => fixture.close());

  const deactivate = async (externalId: string): Promise<void> => {
    const id = await scim.add(server, { userName: randomUUID(), externalId });
    expect((await scim.patch(server, id, INACTIVE)).status).toBe(200);
  };

  it('names a person by the object id of the ID token, not by the subject', async () => {
    const [sub, oid] = [randomUUID(), randomUUID()];
    fixture.provider.oids.set(sub, oid);
    const person = await fixture.keylessLogin(server, sub);
    await deactivate(sub);
    expect(await fixture.statusOf(server, person)).toBe(200);
    await deactivate(oid);
    expect(await fixture.statusOf(server, person)).toBe(401);
    await expect(fixture.keylessLogin(server, sub)).rejects.toThrow();
  });

  it('readmits no leaver whose entry lost its object id before it was given to another person', async () => {
    const [leaver, oid] = [randomUUID(), randomUUID()];
    const [successor, other] = [randomUUID(), randomUUID()];
    fixture.provider.oids.set(leaver, oid).set(successor, other);
    await fixture.keylessLogin(server, leaver);
    const id = await scim.add(server, { userName: randomUUID(), externalId: oid });
    const steps = [
      { externalId: null, active: false },
      { externalId: other, active: true },
    ];
    for (const value of steps) {
      expect((await scim.patch(server, id, [{ op: 'replace', value }])).status).toBe(200);
    }
    await expect(fixture.keylessLogin(server, leaver)).rejects.toThrow();
    const person = await fixture.keylessLogin(server, successor);
    expect((await scim.patch(server, id, INACTIVE)).status).toBe(200);
    expect(await fixture.statusOf(server, person)).toBe(401);
    await expect(fixture.keylessLogin(server, leaver)).rejects.toThrow();
  });

  it('learns the object id at a re-check', async () => {
    const [sub, oid] = [randomUUID(), randomUUID()];
    const person = await fixture.keylessLogin(server, sub);
    fixture.provider.oids.set(sub, oid);
    await fixture.makeDue();
    await fixture.until('known', async () => {
      const { rows } = await fixture.sql.query(
        `SELECT 1 FROM identity WHERE subject = $1 AND facts ->> 'oid' = $2`,
        [sub, oid],
      );
      return rows.length === 1;
    });
    await deactivate(oid);
    expect(await fixture.statusOf(server, person)).toBe(401);
  });

  it('ends the access of a person whose object id a re-check learns after the deactivation', async () => {
    const [sub, oid] = [randomUUID(), randomUUID()];
    const person = await fixture.keylessLogin(server, sub);
    await deactivate(oid);
    expect(await fixture.statusOf(server, person)).toBe(200);
    fixture.provider.oids.set(sub, oid);
    await fixture.recheck(sub);
    await fixture.until('401', async () => (await fixture.statusOf(server, person)) === 401);
  });

  it('ends it also where the database fails between the two', async () => {
    const [sub, oid] = [randomUUID(), randomUUID()];
    const person = await fixture.keylessLogin(server, sub);
    await deactivate(oid);
    fixture.provider.oids.set(sub, oid);
    await fixture.sql.query(`CREATE SEQUENCE "failures"`);
    await fixture.sql.query(
      `CREATE FUNCTION "fail"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         PERFORM nextval('failures');
         RAISE EXCEPTION 'away' USING ERRCODE = '57P01';
       END $$`,
    );
    await fixture.sql.query(
      `CREATE TRIGGER "fail" BEFORE INSERT ON "identity_signal" FOR EACH ROW
       WHEN (NEW."source" = 'directory') EXECUTE FUNCTION "fail"()`,
    );
    await fixture.makeDue();
    await fixture.until('a failure', async () => {
      const { rows } = await fixture.sql.query(`SELECT 1 FROM "failures" WHERE "is_called"`);
      return rows.length === 1;
    });
    await fixture.sql.query(`DROP FUNCTION "fail" CASCADE`);
    await fixture.until('401', async () => (await fixture.statusOf(server, person)) === 401);
  });

  it('knows the object id of a login also after a re-check whose answer lacks it', async () => {
    const [sub, oid] = [randomUUID(), randomUUID()];
    fixture.provider.oids.set(sub, oid);
    const person = await fixture.keylessLogin(server, sub);
    fixture.provider.oids.delete(sub);
    await fixture.recheck(sub);
    await deactivate(oid);
    expect(await fixture.statusOf(server, person)).toBe(401);
  });
});
