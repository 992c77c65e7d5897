import { decodeJwt } from 'jose';
import { Client } from 'pg';
import { clientToken, endedIn, EventStreamFixture } from '../../fixtures/event-stream-fixture.js';
import { startPostgres } from '../../fixtures/programs/services-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { createPostgresStore } from '../../fixtures/programs/store-fixture.js';
import { backends, backendToken, postForm } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

async function connect(): Promise<Client> {
  const client = new Client(store.databaseUrl ?? '');
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const setup = backends([{ id: 'relay' }, { id: 'files' }]);

const postgres = await startPostgres({ durable: true });
const store = await createPostgresStore(postgres.url);
// The grace period is shorter than a poll, which would end it with another code.
const env = { AUTH_ACCESS_CACHE_SECONDS: '60', SERVICE_SHUTDOWN_GRACE_SECONDS: '8' };
let server = await startServer({ store, env: { ...setup.env, ...env } });
const sql = await connect();
afterAll(async () => {
  await sql.end();
  await server.stop();
  await postgres.stop();
});

describe('the bounds of streams (PostgreSQL only: its time and transactions are changed)', () => {
  async function visitor() {
    const session = await tokenOf(server, makeDeviceKey());
    const token = await backendToken(server, session, 'relay');
    const sid = decodeJwt(token)['sid'] as string;
    return { session, sessionId: decodeJwt(session).jti ?? '', sid, token };
  }

  const open = () => EventStreamFixture.open(server, setup, 'relay');
  const logOut = (token: string) => call(server, 'POST', '/v1/auth/logout', { token });
  const silence = (ids: readonly string[], seconds: number) =>
    sql.query(
      `UPDATE event_stream SET polled_at = now() - $2 * interval '1 second' WHERE id = ANY($1)`,
      [ids, seconds],
    );

  it('delivers an event whose transaction commits after later ones', async () => {
    const stream = await open();
    await stream.take();
    const [late, early] = [await visitor(), await visitor()];
    const other = await connect();
    await other.query('BEGIN');
    await other.query('DELETE FROM session WHERE id = $1', [late.sessionId]);
    await logOut(early.session);
    // The open transaction does not delay the others.
    expect(endedIn(await stream.take())).toEqual([early.sid]);
    expect(await stream.waiting()).toEqual([]);
    const created = await open();
    await created.take();
    await other.query('COMMIT');
    expect(endedIn(await stream.take())).toEqual([late.sid]);
    expect(endedIn(await created.take())).toEqual([late.sid]);
    expect(await stream.waiting()).toEqual([]);
    await other.end();
  });

  it('moves on while a transaction of another database stays open', async () => {
    const stream = await open();
    await stream.take();
    const other = new Client(postgres.url);
    await other.connect();
    await other.query('BEGIN');
    await other.query('CREATE TABLE unrelated ()');
    const people = [await visitor(), await visitor(), await visitor()];
    for (const { session } of people) {
      await logOut(session);
    }
    expect(endedIn(await stream.take())).toEqual(people.map(({ sid }) => sid));
    // The place has passed them: they are read no more, and nothing is kept for that.
    const kept = 'SELECT FROM event_acknowledgement WHERE stream_id = $1';
    expect((await sql.query(kept, [stream.id])).rowCount).toBe(0);
    const ahead = await sql.query(
      `SELECT FROM security_event JOIN event_stream ON event_stream.id = $1
       WHERE (xid, security_event.id) >= (cursor_xid, cursor_id)`,
      [stream.id],
    );
    expect(ahead.rowCount).toBe(0);
    await other.query('ROLLBACK');
    await other.end();
  });

  it('delivers what is left of an open transaction, also to a replica of the version before', async () => {
    const stream = await open();
    await stream.take();
    const [late, later, early] = [await visitor(), await visitor(), await visitor()];
    const other = await connect();
    await other.query('BEGIN');
    await other.query('DELETE FROM session WHERE id = ANY($1)', [
      [late.sessionId, later.sessionId],
    ]);
    await logOut(early.session);
    expect(endedIn(await stream.take())).toEqual([early.sid]);
    // That version delivers the events from the position on that are not acknowledged.
    const before = () =>
      sql.query<{ sid: string }>(
        `SELECT sid FROM security_event AS event JOIN event_stream AS stream ON stream.id = $1
         WHERE event.resource_server = stream.resource_server AND xid >= position AND NOT EXISTS (
           SELECT FROM event_acknowledgement WHERE stream_id = stream.id AND event_id = event.id)`,
        [stream.id],
      );
    await other.query('COMMIT');
    const waiting = (await before()).rows.map(({ sid }) => sid);
    expect(waiting).toEqual(expect.arrayContaining([late.sid, later.sid]));
    const { body } = await stream.poll({ returnImmediately: true, maxEvents: 1 });
    expect(body.moreAvailable).toBe(true);
    const [first = ''] = Object.keys(body.sets);
    const rest = await stream.poll({ returnImmediately: true, ack: [first] });
    expect(Object.keys(rest.body.sets)).toHaveLength(1);
    expect((await before()).rows.length).toBeGreaterThan(0);
    const [second = ''] = Object.keys(rest.body.sets);
    await stream.poll({ returnImmediately: true, ack: [second] });
    expect(await stream.waiting()).toEqual([]);
    expect((await before()).rows).toEqual([]);
    await other.end();
  });

  it('reports nothing that was rolled back', async () => {
    const stream = await open();
    await stream.take();
    const { session, sessionId, sid } = await visitor();
    const other = await connect();
    await other.query('BEGIN');
    await other.query('DELETE FROM session WHERE id = $1', [sessionId]);
    await other.query('ROLLBACK');
    await other.end();
    expect(await stream.waiting()).toEqual([]);
    await logOut(session);
    expect(endedIn(await stream.take())).toEqual([sid]);
  });

  it('sends nothing when a session expires', async () => {
    const stream = await open();
    await stream.take();
    const { sessionId } = await visitor();
    await sql.query(`UPDATE session SET expires_at = now() - interval '1 second' WHERE id = $1`, [
      sessionId,
    ]);
    await sql.query('DELETE FROM session WHERE id = $1', [sessionId]);
    expect(await stream.waiting()).toEqual([]);
  });

  it('begins a stream a minute before the longest life of a token', async () => {
    const [before, within] = [await visitor(), await visitor()];
    await logOut(before.session);
    await logOut(within.session);
    const age = (seconds: number, sid: string | null) =>
      sql.query(
        `UPDATE security_event SET at = now() - $1 * interval '1 second'
         WHERE sid = COALESCE($2, sid)`,
        [seconds, sid],
      );
    await age(16 * 60 + 1, null);
    await age(16 * 60 - 10, within.sid);
    const ended = endedIn(await (await open()).take());
    expect([ended.includes(before.sid), ended.includes(within.sid)]).toEqual([false, true]);
  });

  it('removes a stream that is silent for five minutes', async () => {
    const stream = await open();
    await silence([stream.id], 299);
    expect((await stream.poll({ returnImmediately: true })).status).toBe(200);
    await silence([stream.id], 301);
    expect(refusalOf(await stream.poll({ returnImmediately: true }))).toEqual({
      ...{ status: 404, code: 'not-found' },
    });
  });

  it('admits 100 streams, and replaces only one that is silent for a minute', async () => {
    await sql.query('DELETE FROM event_stream');
    const token = await clientToken(server, setup, 'relay');
    const create = () => call(server, 'POST', '/v1/ssf/streams', { token, body: {} });
    const answers = await Promise.all(Array.from({ length: 120 }, create));
    const created = answers.filter(({ status }) => status === 201);
    expect(created).toHaveLength(100);
    expect(answers.map(refusalOf).filter(({ status }) => status === 409)).toEqual(
      Array.from({ length: 20 }, () => ({ status: 409, code: 'too-many-streams' })),
    );
    const ids = created.map(({ body }) => body['stream_id'] as string);
    await silence(ids, 30);
    await silence(ids.slice(3, 4), 90);
    await silence(ids.slice(7, 8), 61);
    const replaced = await Promise.all(Array.from({ length: 50 }, create));
    expect(replaced.filter(({ status }) => status === 201)).toHaveLength(2);
    const left = await sql.query<{ id: string }>('SELECT id FROM event_stream');
    expect(left.rows).toHaveLength(100);
    expect(left.rows.map(({ id }) => id)).not.toContain(ids[3]);
    expect(left.rows.map(({ id }) => id)).not.toContain(ids[7]);
    await sql.query('DELETE FROM event_stream');
  });

  it('ends the streams that miss an expired event, and no other', async () => {
    const [behind, current] = [await open(), await open()];
    await Promise.all([behind.take(), current.take()]);
    const { session, sid } = await visitor();
    await logOut(session);
    await current.until(sid);
    await sql.query(`UPDATE security_event SET at = now() - interval '61 minutes'`);
    server = await server.restart();
    await waitFor('the old events are deleted', async () => {
      const { rows } = await sql.query('SELECT FROM security_event');
      return rows.length === 0;
    });
    expect((await behind.poll({ returnImmediately: true })).status).toBe(404);
    expect((await current.poll({ returnImmediately: true })).status).toBe(200);
  });

  it('keeps 100,000 events of a backend, and ends the streams that miss one', async () => {
    const openFiles = () => EventStreamFixture.open(server, setup, 'files');
    const [behind, current] = [await openFiles(), await openFiles()];
    await sql.query(
      `INSERT INTO security_event (id, resource_server, at, sid, account_id, txn)
       SELECT gen_random_uuid(), 'files', now(), gen_random_uuid(), gen_random_uuid(), 1
       FROM generate_series(1, 100020)`,
    );
    const oldest = await current.waiting();
    expect(oldest).toHaveLength(200);
    const acknowledged = { maxEvents: 0, ack: oldest.map(({ jti }) => jti) };
    expect((await current.poll(acknowledged)).body.moreAvailable).toBe(true);
    server = await server.restart();
    await waitFor('the surplus is deleted', async () => {
      const { rows } = await sql.query<{ count: number }>(
        `SELECT count(*)::int FROM security_event WHERE resource_server = 'files'`,
      );
      return rows[0]?.count === 100_000;
    });
    expect((await behind.poll({ returnImmediately: true })).status).toBe(404);
    expect((await current.poll({ maxEvents: 1 })).body.moreAvailable).toBe(true);
    await sql.query(`DELETE FROM security_event WHERE resource_server = 'files'`);
  });

  it('ends the streams of a restored database whose transactions have other numbers', async () => {
    const stream = await open();
    await stream.take();
    const { session, sid } = await visitor();
    await logOut(session);
    await sql.query('UPDATE security_event SET xid = xid + 1000000000');
    // A transaction that was open for long kept the position behind.
    await sql.query('UPDATE event_stream SET cursor_xid = cursor_xid + 1000000000');
    server = await server.restart();
    expect((await stream.poll({ returnImmediately: true })).status).toBe(404);
    expect(endedIn(await (await open()).take())).toContain(sid);
  });

  it('deletes old events and streams, even where no backend is configured any more', async () => {
    await logOut((await visitor()).session);
    await open();
    await sql.query(`UPDATE security_event SET at = now() - interval '61 minutes'`);
    await sql.query(`UPDATE event_stream SET polled_at = now() - interval '6 minutes'`);
    await server.kill('SIGTERM');
    const without = await startServer({ store, env });
    await waitFor('the old events and streams are deleted', async () => {
      const { rows } = await sql.query(
        'SELECT 1 FROM security_event UNION ALL SELECT 1 FROM event_stream',
      );
      return rows.length === 0;
    });
    await without.stop();
    server = await server.restart();
  });

  it('answers about a token without the database once it has answered before', async () => {
    const own = await clientToken(server, setup, 'relay', 'introspect');
    const { token } = await visitor();
    const introspect = () =>
      postForm(server, '/v1/oauth/introspect', { token }, { authorization: `Bearer ${own}` });
    const forward = () => call(server, 'GET', '/v1/oauth/forward-auth/relay', { token });
    expect([(await introspect()).body['active'], (await forward()).status]).toEqual([true, 200]);
    await postgres.kill('SIGKILL');
    expect([(await introspect()).body['active'], (await forward()).status]).toEqual([true, 200]);
    await postgres.restart();
    const isReady = async () => (await call(server, 'GET', '/readyz')).status === 200;
    await waitFor('the database is back', isReady);
  });

  it('answers polls that wait when the server stops', async () => {
    const stream = await open();
    await stream.take();
    const polls = [stream.poll(), stream.poll()];
    // The other one waits when one has ended.
    await Promise.race(polls);
    const exit = await server.kill('SIGTERM');
    for (const { status, body } of await Promise.all(polls)) {
      expect({ status, body }).toEqual({ status: 200, body: { sets: {}, moreAvailable: false } });
    }
    expect(exit).toEqual({ code: 0, signal: null });
    server = await server.restart();
  });

  it('answers 503 while the database is away, and goes on afterwards', async () => {
    const stream = await open();
    await stream.take();
    const { session, sid } = await visitor();
    const waiting = stream.poll();
    await postgres.kill('SIGKILL');
    expect(refusalOf(await waiting)).toEqual({ status: 503, code: 'unavailable' });
    const answer = await stream.poll({ returnImmediately: true });
    expect(refusalOf(answer)).toEqual({ status: 503, code: 'unavailable' });
    expect(answer.headers['retry-after']).toBeDefined();
    await postgres.restart();
    await waitFor(
      'the poll is answered',
      async () => (await stream.poll({ returnImmediately: true })).status === 200,
    );
    await logOut(session);
    expect(endedIn(await stream.until(sid))).toContain(sid);
  });
});
