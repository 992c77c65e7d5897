import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { endedIn, EventStreamFixture } from '../../fixtures/event-stream-fixture.js';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { PROGRAM_ENV, PROGRAMS, programTokens } from '../../fixtures/programs-fixture.js';
import { backends, backendToken, exchange } from '../../fixtures/resource-server-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import { connect } from '../../helpers/client-live.js';
import { refusalOf } from '../../helpers/client.js';

const setup = backends([
  { id: 'relay', requireProviders: ['people'] },
  { id: 'notes', requireProviders: ['people'], programs: PROGRAMS },
]);

const fixture = await OffboardingFixture.open();
const scim = new ScimFixture(fixture);
const env = {
  ...setup.env,
  ...PROGRAM_ENV,
  AUTH_PROVIDERS_CONFIG_JSON: scim.providers(),
  AUTH_REQUIRED_LOGIN_PROVIDERS: '',
};
const server = await fixture.start(env);
afterAll(() => fixture.close());

describe('a backend that requires the provider of a directory', () => {
  it('learns that the directory deactivated a person whose account goes on', async () => {
    const person = await fixture.person(server);
    const token = await backendToken(server, person.token, 'relay');
    const stream = await EventStreamFixture.open(server, setup, 'relay');
    const id = await scim.add(server, { userName: randomUUID(), externalId: person.sub });

    const inactive = [{ op: 'replace', value: { active: false } }];
    expect((await scim.patch(server, id, inactive)).status).toBe(200);
    const sid = String(decodeJwt(token)['sid']);
    expect(endedIn(await stream.until(sid))).toContain(sid);
    expect(refusalOf(await exchange(server, person.token, 'relay'))).toMatchObject({
      status: 400,
      code: 'not-eligible',
    });
    expect(await fixture.statusOf(server, person)).toBe(200);
  });

  it('learns that the directory, which never showed a person, is required now', async () => {
    const person = await fixture.person(server);
    const token = await backendToken(server, person.token, 'relay');
    const stream = await EventStreamFixture.open(server, setup, 'relay');
    await scim.add(server, { userName: randomUUID() });
    await fixture.stopReplicas();
    const restarted = await fixture.start({
      ...env,
      AUTH_PROVIDERS_CONFIG_JSON: scim.providers({ required: true }),
    });
    const sid = String(decodeJwt(token)['sid']);
    expect(endedIn(await stream.at(restarted).until(sid))).toContain(sid);
  });
});

describe('a required directory', () => {
  let own: OffboardingFixture;

  beforeAll(async () => {
    own = await OffboardingFixture.open();
  });
  afterAll(() => own.close());

  it('ends the sessions at backends of everyone else with its first active people', async () => {
    const directory = new ScimFixture(own);
    const required = { AUTH_PROVIDERS_CONFIG_JSON: directory.providers({ required: true }) };
    const gate = await own.start({ ...env, ...required });
    const { token } = await own.person(gate);
    const relay = await EventStreamFixture.open(gate, setup, 'relay');
    const notes = await EventStreamFixture.open(gate, setup, 'notes');
    const issued = [
      await backendToken(gate, token, 'relay'),
      (await programTokens(gate, token)).access,
    ];
    const sids = issued.map((one) => decodeJwt(one)['sid'] as string);

    const ids: string[] = [];
    for (let index = 0; index < 6; index += 1) {
      const { sub: externalId } = await own.person(gate);
      const person = { userName: randomUUID(), externalId, active: false };
      ids.push(await directory.add(gate, person));
    }
    expect((await exchange(gate, token, 'relay')).status).toBe(200);
    const active = [{ op: 'replace', value: { active: true } }];
    const answers = await Promise.all(ids.map((id) => directory.patch(gate, id, active)));
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
    const ended: string[] = [];
    await own.until('both ended', async () => {
      ended.push(...endedIn(await relay.take()), ...endedIn(await notes.take()));
      return sids.every((sid) => ended.includes(sid));
    });
  });

  it('ends the session at a backend of a person whom the directory no longer shows', async () => {
    const directory = new ScimFixture(own);
    const required = { AUTH_PROVIDERS_CONFIG_JSON: directory.providers({ required: true }) };
    const gate = await own.start({
      ...env,
      ...required,
      ...KEYLESS,
      AUTH_REQUIRED_LOGIN_PROVIDERS: 'people',
    });
    const sub = randomUUID();
    const first = await directory.add(gate, { userName: randomUUID(), externalId: sub });
    // Two people of one id: the login matches neither, and the word about the first one stays.
    await directory.add(gate, { userName: randomUUID(), externalId: sub });
    const person = await own.keylessLogin(gate, sub);
    const relay = await EventStreamFixture.open(gate, setup, 'relay');
    const sid = decodeJwt(await backendToken(gate, person.token, 'relay'))['sid'] as string;
    const live = await connect(gate, { token: person.token });
    await live.next('hello');
    const moved = [{ op: 'replace', path: 'externalId', value: randomUUID() }];
    expect((await directory.patch(gate, first, moved)).status).toBe(200);
    // At once, and not at the next regular check.
    const { rows } = await own.sql.query(
      'SELECT FROM resource_session WHERE id = $1 AND (judge_at IS NULL OR judge_at > now())',
      [sid],
    );
    expect(rows).toEqual([]);
    expect(endedIn(await relay.until(sid))).toContain(sid);
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible' });
    expect(await own.statusOf(gate, person)).toBe(403);
    const audited = await own.sql.query(
      `SELECT actor, subject, reason FROM audit_event
       WHERE kind = 'directory-deactivated' AND account_id = $1`,
      [person.accountId],
    );
    const event = { actor: 'provider', subject: sub, reason: 'directory_missing' };
    expect(audited.rows).toEqual([event]);
  });
});
