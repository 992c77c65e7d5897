import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { RISC, SsfTransmitter } from '../../fakes/ssf-transmitter.js';
import { OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import type { Server } from '../../fixtures/programs/server-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import { call, logIn, type Json } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

const KILLS = 3;
const LEAVERS = 20;
/** Leavers of a kill whose signal cannot be stored before it. */
const HELD = 5;

/** A person and the signal of their leaving, which can be sent again. */
interface Leaver {
  readonly person: Person;
  readonly send: (server: Server) => Promise<number>;
}

const fixture = await OffboardingFixture.open();
const scim = new ScimFixture(fixture);
const transmitter = await SsfTransmitter.start('https://gate.example.com');
const sharedSignals = { transmitter: transmitter.issuer, audience: 'https://gate.example.com' };
const [provider] = JSON.parse(scim.providers()) as [Json];
const signals = { ...(provider['signals'] as Json), sharedSignals };
let server = await fixture.start({
  AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([{ ...provider, signals }]),
});
afterAll(async () => {
  await server.stop();
  await fixture.close();
  await transmitter.close();
});

async function people(count: number): Promise<Person[]> {
  const logins = await Promise.all(Array.from({ length: count }, () => logIn(server)));
  const subs = await fixture.link(logins.map(({ accountId }) => accountId));
  return logins.map((login, at) => ({ ...login, sub: subs[at] ?? '' }));
}

async function ofDirectory(person: Person): Promise<Leaver> {
  const id = await scim.add(server, { userName: randomUUID(), externalId: person.sub });
  const off = [{ op: 'replace', path: 'active', value: false }];
  return { person, send: async (at) => (await scim.patch(at, id, off)).status };
}

async function ofTransmitter(person: Person): Promise<Leaver> {
  const subject = { format: 'iss_sub', iss: fixture.provider.issuer, sub: person.sub };
  const event = await transmitter.event(`${RISC}account-disabled`, subject);
  const headers = { 'content-type': 'application/secevent+jwt' };
  const request = { body: event, headers };
  return {
    person,
    send: async (at) => (await call(at, 'POST', '/v1/signals/people', request)).status,
  };
}

/** Locks accounts, so that what concerns them waits. */
async function hold(leavers: readonly Leaver[]): Promise<Client> {
  const sql = new Client(fixture.store.databaseUrl ?? '');
  await sql.connect();
  await sql.query('BEGIN');
  await sql.query('SELECT 1 FROM account WHERE id = ANY($1) FOR UPDATE', [
    leavers.map(({ person }) => person.accountId),
  ]);
  return sql;
}

it.each([
  ['PATCHes of a directory', ofDirectory, 200, 'directory-deactivated'],
  ['pushed events', ofTransmitter, 202, 'eligibility-lost'],
] as const)(
  'loses none of the acknowledged %s when it is killed again and again',
  async (_what, leaverOf, accepted, kind) => {
    const stays = (await people(1))[0] as Person;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const leavers = await Promise.all((await people(LEAVERS)).map(leaverOf));
      const lock = await hold(leavers.slice(0, HELD));
      const answered = new Set<Leaver>();
      const sending = leavers.map(async (leaver) => {
        const status = await leaver.send(server).catch(() => 0);
        if (status !== 0) {
          expect(status).toBe(accepted);
          answered.add(leaver);
        }
      });
      await waitFor('some were answered', () => answered.size >= 5);
      const restarting = server.restart();
      await Promise.all(sending);
      await lock.end();
      server = await restarting;
      expect(leavers.slice(0, HELD).filter((leaver) => answered.has(leaver))).toEqual([]);
      for (const { person } of answered) {
        expect(await fixture.statusOf(server, person)).toBe(401);
      }
      for (const { person, send } of leavers.filter((leaver) => !answered.has(leaver))) {
        expect(await send(server)).toBe(accepted);
        expect(await fixture.statusOf(server, person)).toBe(401);
      }
      const { rows } = await fixture.sql.query<{ count: number }>(
        `SELECT count(*)::int FROM audit_event WHERE kind = $1 AND account_id = ANY($2)
         GROUP BY account_id`,
        [kind, leavers.map(({ person }) => person.accountId)],
      );
      expect(rows.map(({ count }) => count)).toEqual(Array<number>(LEAVERS).fill(1));
    }
    expect(await fixture.statusOf(server, stays)).toBe(200);
  },
);
