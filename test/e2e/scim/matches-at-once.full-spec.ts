import { randomUUID } from 'node:crypto';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import { refusalOf, type Answer, type Json } from '../../helpers/client.js';
import { finish } from '../../helpers/keyless-calls.js';

const INACTIVE = [{ op: 'replace', value: { active: false } }];
const MANY = 50;

const times = <Value>(make: (at: number) => Value): Value[] =>
  Array.from({ length: MANY }, (_, at) => make(at));
const statusesOf = (answers: readonly Answer[]): Set<number> =>
  new Set(answers.map(({ status }) => status));

describe('first matches of people at once', () => {
  let fixture: OffboardingFixture;
  let scim: ScimFixture;
  let one: Server;
  let other: Server;

  beforeAll(async () => {
    fixture = await OffboardingFixture.open();
    scim = new ScimFixture(fixture);
    const env = {
      ...KEYLESS,
      AUTH_PROVIDERS_CONFIG_JSON: scim.providers({ match: 'oid' }),
      AUTH_ACCESS_CACHE_SECONDS: '0',
    };
    one = await fixture.start(env);
    other = await fixture.start(env);
    // All requests wait for the first active person of a directory.
    await scim.add(one, { userName: randomUUID() });
  });
  afterAll(() => fixture.close());

  const replica = (at: number): Server => (at % 2 === 0 ? one : other);
  const post = (at: number, externalId: string): Promise<Answer> =>
    scim.send(replica(at), 'POST', '/Users', { body: { userName: randomUUID(), externalId } });
  const newPerson = (): { readonly sub: string; readonly oid: string } => {
    const person = { sub: randomUUID(), oid: randomUUID() };
    fixture.provider.oids.set(person.sub, person.oid);
    return person;
  };

  /** Lets the directory's word about the subject wait, and with it a match. @returns the end of that */
  async function hold(sub: string): Promise<() => Promise<void>> {
    const holder = await fixture.sql.connect();
    await holder.query('BEGIN');
    await holder.query(
      `INSERT INTO identity_signal (provider, subject, source, is_allowed, at)
       VALUES ('people', $1, 'directory', true, now())`,
      [sub],
    );
    return async () => {
      await holder.query('ROLLBACK');
      holder.release();
    };
  }

  const untilWaiting = (least: number): Promise<void> =>
    fixture.until('they wait', async () => {
      const { rows } = await fixture.sql.query(
        `SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length >= least;
    });

  it('links one of 50 people with the same name, and none to a subject that has one', async () => {
    const { sub, oid } = newPerson();
    await fixture.keylessLogin(one, sub);
    const release = await hold(sub);
    const sent = Promise.all(times((at) => post(at, oid)));
    await untilWaiting(5);
    await release();
    expect(statusesOf(await sent)).toEqual(new Set([201]));
    const { rows } = await fixture.sql.query<Json>(
      `SELECT count(subject)::int AS linked, count(*) FILTER (WHERE is_ambiguous)::int AS ambiguous
       FROM directory_person WHERE external_id = $1`,
      [oid],
    );
    expect(rows).toEqual([{ linked: 1, ambiguous: MANY - 1 }]);
  });

  it('lets no person wait for the first match of another one', async () => {
    const { sub, oid } = newPerson();
    await fixture.keylessLogin(one, sub);
    const different = await scim.add(one, { userName: randomUUID(), externalId: randomUUID() });
    const release = await hold(sub);
    const sent = post(0, oid);
    await untilWaiting(1);
    expect((await scim.patch(one, different, INACTIVE)).status).toBe(200);
    await release();
    expect((await sent).status).toBe(201);
  });

  it('stores 50 deactivations of different people without an identity', async () => {
    const oids = times(() => randomUUID());
    const ids = await Promise.all(
      oids.map((externalId, at) => scim.add(replica(at), { userName: randomUUID(), externalId })),
    );
    const answers = await Promise.all(ids.map((id, at) => scim.patch(replica(at), id, INACTIVE)));
    expect(statusesOf(answers)).toEqual(new Set([200]));
    const { rows } = await fixture.sql.query<Json>(
      `SELECT subject FROM audit_event WHERE kind = 'directory-deactivated' AND subject = ANY($1)`,
      [oids],
    );
    expect(rows.map(({ subject }) => subject).sort()).toEqual(oids.toSorted());
  });

  it('lets none of 50 people in who are deactivated during their first login', async () => {
    const people = times(() => newPerson());
    const ids = await Promise.all(
      people.map(({ oid }, at) =>
        scim.add(replica(at), { userName: randomUUID(), externalId: oid }),
      ),
    );
    const [answers, logins] = await Promise.all([
      Promise.all(ids.map((id, at) => scim.patch(replica(at), id, INACTIVE))),
      Promise.allSettled(people.map(({ sub }, at) => fixture.keylessLogin(replica(at + 1), sub))),
    ]);
    expect(statusesOf(answers)).toEqual(new Set([200]));
    const admitted = logins.flatMap((login): Person[] =>
      login.status === 'fulfilled' ? [login.value] : [],
    );
    for (const person of admitted) {
      expect(await fixture.statusOf(one, person)).not.toBe(200);
    }
    // A login that was refused as it finished has stored nothing but its refusal.
    const later = people.map(({ sub }, at) => fixture.keylessLogin(replica(at), sub));
    const refused = await Promise.allSettled(later);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(['rejected']));
    const { rows } = await fixture.sql.query<Json>(
      `SELECT count(*)::int AS refused FROM identity_signal
       WHERE subject = ANY($1) AND source = 'directory' AND NOT is_allowed`,
      [people.map(({ sub }) => sub)],
    );
    expect(rows).toEqual([{ refused: MANY }]);
  });

  it('refuses a person who is created as inactive between the answer of the provider and its use', async () => {
    const { sub, oid } = newPerson();
    const proven = await fixture.provenLogin(one, sub);
    await scim.add(one, { userName: randomUUID(), externalId: oid, active: false });
    const answer = await finish(other, proven, 'people');
    expect(refusalOf(answer)).toEqual({ status: 403, code: 'not-eligible' });
    const { rows } = await fixture.sql.query<Json>(
      `SELECT kind, reason, account_id, address FROM audit_event WHERE subject = $1`,
      [sub],
    );
    const refused = { kind: 'login-refused', reason: 'directory_inactive', account_id: null };
    expect(rows).toEqual([{ ...refused, address: null }]);
  });

  it('lets none of 50 people in who are created as inactive while their first login is finished', async () => {
    const people = times(() => newPerson());
    const proven = await Promise.all(
      people.map(({ sub }, at) => fixture.provenLogin(replica(at), sub)),
    );
    const [answers, logins] = await Promise.all([
      Promise.all(
        people.map(({ oid }, at) =>
          scim.send(replica(at), 'POST', '/Users', {
            body: { userName: randomUUID(), externalId: oid, active: false },
          }),
        ),
      ),
      Promise.all(proven.map((one, at) => finish(replica(at + 1), one, 'people'))),
    ]);
    expect(statusesOf(answers)).toEqual(new Set([201]));
    for (const { status, body } of logins) {
      expect([200, 403]).toContain(status);
      if (status === 200) {
        expect(await fixture.statusOf(one, body as unknown as Person)).not.toBe(200);
      }
    }
  });
});
