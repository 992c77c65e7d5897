import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { EventStreamFixture } from '../../fixtures/event-stream-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import {
  PROGRAM_ENV,
  PROGRAMS,
  programsOf,
  programTokens,
  refresh,
  UNACCEPTED_FOR_LONG,
} from '../../fixtures/programs-fixture.js';
import { backends, backendToken } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { makeDeviceKey } from '../../helpers/client.js';
import { SqlRecorder } from '../../helpers/sql-recorder.js';

const LOGINS = 30;

const withPrograms = backends([{ id: 'notes', programs: PROGRAMS }]);

/** The same backend, with its secret, and no programs. */
function envWithout(): Record<string, string> {
  const [entry] = JSON.parse(
    withPrograms.env['AUTH_RESOURCE_SERVERS_CONFIG_JSON'] ?? '',
  ) as readonly [object];
  const entries = JSON.stringify([{ ...entry, programs: undefined }]);
  return { ...withPrograms.env, AUTH_RESOURCE_SERVERS_CONFIG_JSON: entries };
}

/** Starts a server, whose statements are seen from its start. */
async function recorded(env: Readonly<Record<string, string>>) {
  const store = await createStore();
  const recorder = await SqlRecorder.start(store.databaseUrl ?? '');
  const DATABASE_URL = recorder.urlFor(store.databaseUrl ?? '');
  const server = await startServer({ store, env: { ...env, DATABASE_URL } });
  const close = async () => {
    await server.stop();
    recorder.close();
    await store.drop();
  };
  return { server, recorder, close };
}

/** Returns the statements of a login with an exchange: those of periodic work are fewer. */
async function statementsOfLogins(env: Readonly<Record<string, string>>, idleMs = 0) {
  const { server, recorder, close } = await recorded(env);
  const started = [...recorder.take().keys()];
  const key = makeDeviceKey();
  await backendToken(server, await tokenOf(server, key), 'notes');
  recorder.take();
  for (let round = 0; round < LOGINS; round += 1) {
    await backendToken(server, await tokenOf(server, key), 'notes');
  }
  const counted = [...recorder.take()];
  const each = counted.map(([sql, count]) => [sql, Math.floor(count / LOGINS)] as const);
  await sleep(idleMs);
  const all = [...counted, ...recorder.take()].map(([sql]) => sql);
  await close();
  return { started, all, each: new Map(each.filter(([, count]) => count > 0)) };
}

const ofPrograms = (texts: readonly string[]) =>
  texts.filter((sql) => sql.includes('"program_grant"'));

describe('a server without programs (needs PostgreSQL)', () => {
  it('sends the statements of a server with programs for logins and exchanges, and reads no grants', async () => {
    // Longer than two rounds of the judgement of grants.
    const off = await statementsOfLogins(envWithout(), 5000);
    const on = await statementsOfLogins({ ...withPrograms.env, ...PROGRAM_ENV });
    expect(off.each.size).toBeGreaterThan(2);
    expect(Object.fromEntries(on.each)).toEqual(Object.fromEntries(off.each));
    expect(ofPrograms(off.all)).toEqual([]);
    // The grants of an earlier configuration are looked for once; each table has sealed values.
    const reads = ofPrograms(off.started).filter((sql) => !sql.includes('"signing_key"'));
    expect(reads).toHaveLength(1);
  });
});

describe('a server without the last entry (needs PostgreSQL)', () => {
  it('ends the grants after ten minutes, which do not return with the entry', async () => {
    const store = await createStore();
    const first = await startServer({ store, env: { ...withPrograms.env, ...PROGRAM_ENV } });
    const key = makeDeviceKey();
    const stream = await EventStreamFixture.open(first, withPrograms, 'notes');
    const tokens = await programTokens(first, await tokenOf(first, key));
    await first.stop();

    const started = await startServer({ store, env: envWithout() });
    await runSql(store.databaseUrl ?? '', UNACCEPTED_FOR_LONG);
    const second = await started.restart();
    await stream.at(second).until(String(decodeJwt(tokens.access)['sid']));
    const [event] = await runSql(
      store.databaseUrl ?? '',
      `SELECT "actor", "reason", "detail" FROM "audit_event" WHERE "kind" = 'program-ended'`,
    );
    expect(event).toEqual({
      actor: 'system',
      reason: 'configuration',
      detail: 'inspector at notes',
    });
    await second.stop();

    const third = await startServer({ store, env: { ...withPrograms.env, ...PROGRAM_ENV } });
    expect(await programsOf(third, await tokenOf(third, key))).toEqual([]);
    expect((await refresh(third, tokens.refresh)).body['error']).toBe('invalid_grant');
    await third.stop();
    await store.drop();
  });
});
