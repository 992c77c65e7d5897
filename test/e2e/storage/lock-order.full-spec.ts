import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { RISC, SsfTransmitter } from '../../fakes/ssf-transmitter.js';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { begin, finalize } from '../../fixtures/provider-login-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import { call, makeDeviceKey, type Answer, type DeviceKey } from '../../helpers/client.js';
import { finish } from '../../helpers/keyless-calls.js';

const ACTIVE = [{ op: 'replace', value: { active: true } }];
const INACTIVE = [{ op: 'replace', value: { active: false } }];
const AUDIENCE = 'https://gate.example.com';
const PUSH_TOKEN = 'the-push-token-of-the-transmitter-of-the-spec';
const MANY = 50;

const fixture = await OffboardingFixture.open();
const scim = new ScimFixture(fixture);
const tokens = await AdminTokensFile.create();
const transmitter = await SsfTransmitter.start(AUDIENCE);
const providers = JSON.parse(scim.providers()) as { readonly signals: object }[];
const sharedSignals = {
  transmitter: transmitter.issuer,
  audience: AUDIENCE,
  pushToken: PUSH_TOKEN,
};
const server = await fixture.start({
  ...KEYLESS,
  ...tokens.env,
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true',
  AUTH_SIGNUP_PROVIDERS: 'people',
  AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify(
    providers.map((entry) => ({ ...entry, signals: { ...entry.signals, sharedSignals } })),
  ),
});
const admin = new AdminCalls(await adminUrlOf(server), tokens.operator);
afterAll(async () => {
  await fixture.close();
  await transmitter.close();
});

/** @returns the number of transactions that PostgreSQL ended because of a deadlock */
async function deadlocks(): Promise<number> {
  const { rows } = await fixture.sql.query<{ deadlocks: string }>(
    `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`,
  );
  return Number(rows[0]?.deadlocks);
}

/** Waits until so many transactions wait for that of `holder`, or for one another behind it. */
async function untilWaiting(holder: PoolClient, count: number): Promise<void> {
  const { rows: own } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await fixture.until(`${count} wait`, async () => {
    const { rows } = await fixture.sql.query(
      `WITH RECURSIVE waiting AS (
         SELECT $1::int AS pid
         UNION
         SELECT other.pid FROM pg_stat_activity other JOIN waiting
           ON other.wait_event_type = 'Lock' AND waiting.pid = ANY(pg_blocking_pids(other.pid))
       ) SELECT FROM waiting WHERE pid <> $1`,
      [own[0]?.pid],
    );
    return rows.length >= count;
  });
}

/** Returns the status, or what a redirect says. */
function outcomeOf({ status, headers }: Answer): unknown {
  const { location } = headers;
  return location === undefined ? status : new URL(location).searchParams.get('error');
}

/** Has both wait for a row that `lock` locks, in this order. */
async function inTurn(
  lock: string,
  id: string,
  first: () => Promise<Answer>,
  second: () => Promise<Answer>,
): Promise<unknown[]> {
  const holder = await fixture.sql.connect();
  await holder.query('BEGIN');
  await holder.query(lock, [id]);
  const one = first();
  await untilWaiting(holder, 1);
  const other = second();
  await untilWaiting(holder, 2);
  await holder.query('COMMIT');
  holder.release();
  return [await one, await other].map(outcomeOf);
}

const OF_ACCOUNT = 'SELECT FROM account WHERE id = $1 FOR UPDATE';
const OF_FIRST = 'SELECT FROM identity WHERE account_id = $1 ORDER BY id LIMIT 1 FOR UPDATE';
const OF_IDENTITIES = 'SELECT FROM identity WHERE account_id = $1 FOR UPDATE';

interface Known extends Person {
  /** The id in the directory. */
  readonly id: string;
}

/** Creates a person of the directory with an account. */
async function known(): Promise<Known> {
  const sub = randomUUID();
  const id = await scim.add(server, { userName: sub, externalId: sub });
  return { ...(await fixture.keylessLogin(server, sub)), id };
}

async function keyedLogin(key: DeviceKey, sub: string): Promise<() => Promise<Answer>> {
  fixture.provider.add(sub);
  const { url, proof } = await begin(server, 'people', { mode: 'keyed' });
  const pending = await fixture.pendingOf(server, fixture.provider.authorize(url, sub));
  return () => finalize(server, pending, key, { provider: 'people', proof });
}

type Act = (person: Known) => Promise<() => Promise<Answer>>;

const ACTS = {
  'a deactivation by the directory':
    async ({ id }) =>
    () =>
      scim.patch(server, id, INACTIVE),
  'the deletion of the account':
    async ({ token }) =>
    () =>
      call(server, 'DELETE', '/v1/account', { token }),
  'an activation by the directory': async ({ id }) => {
    await scim.patch(server, id, INACTIVE);
    return () => scim.patch(server, id, ACTIVE);
  },
  'the enabling by an administrator': async ({ accountId }) => {
    await admin.act(accountId, 'disable');
    return () => admin.act(accountId, 'enable');
  },
  'a login with another name': async ({ sub }) => {
    fixture.provider.logins.set(sub, randomUUID());
    const proven = await fixture.provenLogin(server, sub);
    return () => finish(server, proven, 'people');
  },
  'a login that the rules refuse': async ({ sub }) => {
    const { url } = await begin(server, 'people', { mode: 'keyless' });
    fixture.provider.groups.set(sub, []);
    const { pathname, search } = fixture.provider.authorize(url, sub);
    return () => call(server, 'GET', `${pathname}${search}`);
  },
  'an event about a new address': async ({ sub }) => {
    const subject = { format: 'iss_sub', iss: fixture.provider.issuer, sub };
    const body = await transmitter.event(`${RISC}identifier-changed`, subject);
    const headers = { 'content-type': 'application/secevent+jwt' };
    return () => call(server, 'POST', '/v1/signals/people', { token: PUSH_TOKEN, body, headers });
  },
  'a check that an administrator requests': async ({ accountId }) => {
    // Stored in the opposite order of their ids.
    await fixture.sql.query(
      `INSERT INTO identity (id, account_id, provider, subject, connected_at, eligibility_status)
       SELECT overlay(gen_random_uuid()::text placing to_hex(9 - n) from 1)::uuid, $1, 'other-' || n,
         gen_random_uuid()::text, now(), 'eligible' FROM generate_series(0, 9) AS n`,
      [accountId],
    );
    return () => admin.act(accountId, 'recheck');
  },
} satisfies Record<string, Act>;

const PAIRS: [
  first: keyof typeof ACTS,
  second: keyof typeof ACTS,
  lock: string,
  outcomes: unknown[],
][] = [
  ['a deactivation by the directory', 'a login with another name', OF_ACCOUNT, [200, 403]],
  // The deactivation ends the session that asked for the deletion.
  ['a deactivation by the directory', 'the deletion of the account', OF_ACCOUNT, [200, 401]],
  ['the enabling by an administrator', 'an activation by the directory', OF_ACCOUNT, [200, 200]],
  [
    'the deletion of the account',
    'a login that the rules refuse',
    OF_IDENTITIES,
    [200, 'not_eligible'],
  ],
  ['the deletion of the account', 'an event about a new address', OF_IDENTITIES, [200, 202]],
  ['the deletion of the account', 'a check that an administrator requests', OF_FIRST, [200, 200]],
];

describe('transactions about one person (need PostgreSQL)', () => {
  it.each(PAIRS)(
    'lets %s and %s wait for each other in turn',
    async (first, second, lock, outcomes) => {
      const person = await known();
      const one = await ACTS[first](person);
      const other = await ACTS[second](person);
      expect(await inTurn(lock, person.accountId, one, other)).toEqual(outcomes);
    },
  );

  it('lets a login with a device key and the deletion of its account wait in turn', async () => {
    const key = makeDeviceKey();
    const sub = randomUUID();
    const first = await keyedLogin(key, sub);
    const { body } = await first();
    const { accountId, token } = body as unknown as Person;
    const remove = () => call(server, 'DELETE', '/v1/account', { token });
    const statuses = await inTurn(OF_ACCOUNT, accountId, await keyedLogin(key, sub), remove);
    expect(statuses).toEqual([200, 200]);
  });

  it('refuses a person with the device key of an account that is deleted', async () => {
    const key = makeDeviceKey();
    const { body } = await (await keyedLogin(key, randomUUID()))();
    const { accountId, token } = body as unknown as Person;
    const remove = () => call(server, 'DELETE', '/v1/account', { token });
    const login = await keyedLogin(key, randomUUID());
    expect(await inTurn(OF_ACCOUNT, accountId, login, remove)).toEqual([409, 200]);
  });

  it('finishes 50 logins during 50 deactivations of the same people', async () => {
    const before = await deadlocks();
    const people = await Promise.all(Array.from({ length: MANY }, () => known()));
    const logins = await Promise.all(people.map(ACTS['a login with another name']));
    const holder = await fixture.sql.connect();
    await holder.query('BEGIN; SELECT FROM account FOR UPDATE');
    // In turn, so that deactivations and logins have connections of the server.
    const sent = people.map(({ id }, at) => [scim.patch(server, id, INACTIVE), logins[at]?.()]);
    await untilWaiting(holder, MANY / 10);
    await holder.query('COMMIT');
    holder.release();
    const answers = await Promise.all(
      sent.map(([deactivation]) => deactivation as Promise<Answer>),
    );
    const finished = await Promise.all(sent.map(([, login]) => login as Promise<Answer>));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(finished.filter(({ status }) => ![200, 403].includes(status))).toEqual([]);
    expect(await deadlocks()).toBe(before);
  });
});
