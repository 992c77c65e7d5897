import { randomUUID } from 'node:crypto';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import { type Json } from '../../helpers/client.js';
import { finish } from '../../helpers/keyless-calls.js';

const INACTIVE = [{ op: 'replace', path: 'active', value: false }];
const ACTIVE = [{ op: 'replace', path: 'active', value: true }];
const MANY = 50;

describe.each(['userName', 'email'] as const)('people of a directory matched by %s', (match) => {
  let fixture: OffboardingFixture;
  let scim: ScimFixture;
  let server: Server;

  beforeAll(async () => {
    fixture = await OffboardingFixture.open();
    scim = new ScimFixture(fixture);
    server = await fixture.start({
      ...KEYLESS,
      AUTH_PROVIDERS_CONFIG_JSON: scim.providers({ match }),
      AUTH_ACCESS_CACHE_SECONDS: '0',
    });
  });
  afterAll(() => fixture.close());

  const newName = (): string => `${randomUUID()}@example.com`;

  /** A member of staff whose logins prove the name from now on. */
  const subjectOf = (name: string, sub: string = randomUUID()): string => {
    fixture.provider.logins.set(sub, match === 'userName' ? name : sub);
    fixture.provider.emails.set(sub, { email: name, isVerified: true });
    return sub;
  };
  const logIn = (name: string, sub?: string): Promise<Person> =>
    fixture.keylessLogin(server, subjectOf(name, sub));
  const bodyOf = (name: string, more: Json = {}): Json => ({
    userName: match === 'userName' ? name : randomUUID(),
    emails: [{ value: name, type: 'work' }],
    ...more,
  });
  const add = (name: string, more?: Json): Promise<string> => scim.add(server, bodyOf(name, more));
  const patch = async (id: string, operations: readonly Json[]): Promise<void> => {
    expect((await scim.patch(server, id, operations)).status).toBe(200);
  };
  const remove = async (id: string): Promise<void> => {
    expect((await scim.send(server, 'DELETE', `/Users/${id}`)).status).toBe(204);
  };
  /** 200, or the status of the refusal of a login. */
  const loginStatus = async (name: string, sub: string): Promise<number> =>
    logIn(name, sub).then(
      (person) => fixture.statusOf(server, person),
      () => 403,
    );
  const deactivationsOf = async (accountId: string): Promise<Json[]> =>
    (
      await fixture.sql.query<Json>(
        `SELECT reason FROM audit_event WHERE kind = 'directory-deactivated' AND account_id = $1`,
        [accountId],
      )
    ).rows;
  const doctor = async (): Promise<string> => {
    const cli = await createCliUser();
    const { stdout } = await cli.run(['doctor', 'signals'], {
      ...fixture.env,
      ...fixture.store.env,
      AUTH_PROVIDERS_CONFIG_JSON: scim.providers({ match }),
    });
    return stdout;
  };

  it('keeps a leaver out when a namesake arrives, and ends the access of the namesake alone', async () => {
    const name = newName();
    const leaver = await logIn(name);
    const first = await add(name);
    await patch(first, INACTIVE);
    expect(await fixture.statusOf(server, leaver)).toBe(401);
    await remove(first);

    const second = await add(name);
    expect(await loginStatus(name, leaver.sub)).toBe(403);
    const namesake = await logIn(name);
    expect(await fixture.statusOf(server, namesake)).toBe(200);
    await patch(second, ACTIVE);
    expect(await loginStatus(name, leaver.sub)).toBe(403);
    expect(await deactivationsOf(leaver.accountId)).toEqual([{ reason: null }]);

    await patch(second, INACTIVE);
    expect(await fixture.statusOf(server, namesake)).toBe(401);
    expect(await deactivationsOf(namesake.accountId)).toEqual([{ reason: null }]);
    expect(await deactivationsOf(leaver.accountId)).toHaveLength(1);
    await patch(second, ACTIVE);
    expect(await loginStatus(name, namesake.sub)).toBe(200);
    expect(await loginStatus(name, leaver.sub)).toBe(403);
  });

  it('refuses a namesake who left before a first login', async () => {
    const name = newName();
    const leaver = await logIn(name);
    await remove(await add(name));
    await remove(await add(name));
    expect(await loginStatus(name, randomUUID())).toBe(403);
    expect(await loginStatus(name, leaver.sub)).toBe(403);
  });

  it('readmits a person by the same entry of the directory', async () => {
    const name = newName();
    const person = await logIn(name);
    const id = await add(name);
    await patch(id, INACTIVE);
    expect(await loginStatus(name, person.sub)).toBe(403);
    await patch(id, ACTIVE);
    expect(await loginStatus(name, person.sub)).toBe(200);
  });

  it('ends the access of two subjects with one name, and readmits none by it', async () => {
    const name = newName();
    const people = [await logIn(name), await logIn(name)];
    const id = await add(name);
    await patch(id, INACTIVE);
    for (const person of people) {
      expect(await fixture.statusOf(server, person)).toBe(401);
      expect(await deactivationsOf(person.accountId)).toEqual([{ reason: 'ambiguous' }]);
    }
    await patch(id, ACTIVE);
    for (const { sub } of people) {
      expect(await loginStatus(name, sub)).toBe(403);
    }
  });

  it('refuses the next login that proves the name, and no other', async () => {
    const name = newName();
    const id = await add(name);
    await patch(id, INACTIVE);
    const another = randomUUID();
    fixture.provider.logins.set(another, randomUUID());
    fixture.provider.emails.set(another, { email: name, isVerified: false });
    const stranger = await fixture.keylessLogin(server, another);
    expect(await fixture.statusOf(server, stranger)).toBe(200);
    expect(await loginStatus(name, randomUUID())).toBe(403);
  });

  it.each(['deactivated', 'deleted'])(
    'admits a namesake of a person who was %s without a login, once the directory shows the namesake',
    async (end) => {
      const name = newName();
      const first = await add(name);
      await patch(first, INACTIVE);
      if (end === 'deleted') {
        await remove(first);
      } else if (match === 'userName') {
        await patch(first, [{ op: 'replace', path: 'userName', value: randomUUID() }]);
      }
      await add(name);
      expect(await loginStatus(name, randomUUID())).toBe(200);
    },
  );

  it('refuses the former name of a person who was renamed and deactivated at once', async () => {
    const name = newName();
    const id = await add(name);
    const renamed = bodyOf(newName());
    await patch(id, [{ op: 'replace', value: { ...renamed, active: false } }]);
    expect(await loginStatus(name, randomUUID())).toBe(403);
  });

  it('follows a person who was renamed before the deactivation', async () => {
    const name = newName();
    const person = await logIn(name);
    const id = await add(name);
    await patch(id, [{ op: 'replace', value: bodyOf(newName()) }]);
    await patch(id, INACTIVE);
    expect(await fixture.statusOf(server, person)).toBe(401);
  });

  it.each<[string, readonly Json[]]>([
    ['with another id', []],
    ['after it removed the id', [{ op: 'remove', path: 'externalId' }]],
  ])('readmits no leaver whose entry it gives to another person %s', async (_how, before) => {
    const name = newName();
    const leaver = await logIn(name);
    const id = await add(name, { externalId: randomUUID() });
    await patch(id, [...INACTIVE, ...before]);
    await patch(id, [{ op: 'replace', value: { externalId: randomUUID(), active: true } }]);
    expect(await loginStatus(name, leaver.sub)).toBe(403);
    const namesake = await logIn(name);
    await patch(id, INACTIVE);
    expect(await fixture.statusOf(server, namesake)).toBe(401);
    await patch(id, ACTIVE);
    expect(await loginStatus(name, namesake.sub)).toBe(200);
    expect(await loginStatus(name, leaver.sub)).toBe(403);
  });

  it('reports a person who was hired again, and is then enabled', async () => {
    const name = newName();
    const person = await logIn(name);
    const first = await add(name);
    await patch(first, INACTIVE);
    await remove(first);
    const second = await add(name);
    expect(await loginStatus(name, person.sub)).toBe(403);
    const report = await doctor();
    expect(report).toContain(person.accountId);
    expect(report).toContain('run: gatehouse account enable ID --reason TEXT');
    const cli = await createCliUser();
    const enabled = await cli.run(
      ['account', 'enable', person.accountId, '--reason', 'hired again', '--actor', 'alice'],
      { ...fixture.env, ...fixture.store.env },
    );
    expect(enabled.code).toBe(0);
    expect(await loginStatus(name, person.sub)).toBe(200);
    expect(await doctor()).not.toContain(person.accountId);
    await patch(second, INACTIVE);
    expect(await loginStatus(name, person.sub)).toBe(403);
  });

  it('takes no letter outside of ASCII for one inside it', async () => {
    const name = newName();
    const similar = await logIn(`k${name}`);
    const id = await add(`\u212a${name}`);
    await patch(id, INACTIVE);
    expect(await fixture.statusOf(server, similar)).toBe(200);
    const upper = await add(`K${name}`.toUpperCase());
    await patch(upper, INACTIVE);
    expect(await fixture.statusOf(server, similar)).toBe(401);
  });

  it('readmits no leaver by 50 namesakes at once, and refuses each subject of a name once', async () => {
    const name = newName();
    const leaver = await logIn(name);
    await remove(await add(name));
    const arrivals = await Promise.all(
      Array.from({ length: MANY }, () =>
        scim.send(server, 'POST', '/Users', { body: bodyOf(name) }),
      ),
    );
    const created = arrivals.filter(({ status }) => status === 201);
    expect(created).toHaveLength(match === 'userName' ? 1 : MANY);
    expect(await loginStatus(name, leaver.sub)).toBe(403);

    const shared = newName();
    const people = await Promise.all(Array.from({ length: 5 }, () => logIn(shared)));
    const id = await add(shared);
    const answers = await Promise.all(
      Array.from({ length: MANY }, () => scim.patch(server, id, INACTIVE)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (const { accountId } of people) {
      expect(await deactivationsOf(accountId)).toEqual([{ reason: 'ambiguous' }]);
    }
  });

  it('admits none of 50 people who leave during their first login', async () => {
    const names = Array.from({ length: MANY }, newName);
    const ids = await Promise.all(names.map((name) => add(name)));
    const subs = names.map((name) => subjectOf(name));
    const proven = await Promise.all(subs.map((sub) => fixture.provenLogin(server, sub)));
    const [, logins] = await Promise.all([
      Promise.all(ids.map((id, at) => (at % 2 === 0 ? remove(id) : patch(id, INACTIVE)))),
      Promise.all(proven.map((one) => finish(server, one, 'people'))),
    ]);
    for (const { status, body } of logins) {
      expect([200, 403]).toContain(status);
      if (status === 200) {
        expect(await fixture.statusOf(server, body as unknown as Person)).not.toBe(200);
      }
    }
    const later = await Promise.all(names.map((name, at) => loginStatus(name, subs[at] ?? '')));
    expect(new Set(later)).toEqual(new Set([403]));
  });
});

describe('a directory that gives the entry of a leaver to another person', () => {
  it('readmits only the person of the new external id', async () => {
    const fixture = await OffboardingFixture.open();
    const scim = new ScimFixture(fixture);
    const server = await fixture.start({
      ...KEYLESS,
      AUTH_PROVIDERS_CONFIG_JSON: scim.providers(),
      AUTH_ACCESS_CACHE_SECONDS: '0',
    });
    const leaver = await fixture.keylessLogin(server);
    const id = await scim.add(server, { userName: randomUUID(), externalId: leaver.sub });
    expect((await scim.patch(server, id, INACTIVE)).status).toBe(200);
    const next = randomUUID();
    const given = { userName: randomUUID(), externalId: next, active: true };
    expect((await scim.send(server, 'PUT', `/Users/${id}`, { body: given })).status).toBe(200);
    await expect(fixture.keylessLogin(server, leaver.sub)).rejects.toThrow();
    const person = await fixture.keylessLogin(server, next);
    expect((await scim.patch(server, id, INACTIVE)).status).toBe(200);
    expect(await fixture.statusOf(server, person)).toBe(401);
    await fixture.close();
  });
});
