import { createStore, type Store } from '../../../../../test/fixtures/programs/store-fixture.js';
import { runSql } from '../../../../../test/fixtures/programs/services-fixture.js';
import {
  type Executed,
  expectFewRows,
  openRecorded,
} from '../../../../../test/fixtures/statement-plans-fixture.js';
import { Random } from '../../../../common/runtime/random.js';
import { DatabaseService } from '../../database.service.js';
import { EventStreamEntity } from '../../entities/event-stream.entity.js';
import type { ServerDataSource } from '../../server-data-source.js';
import { EventRetentionRepository } from './event-retention.repository.js';
import { EventStatisticsRepository, MAX_WAITING } from './event-statistics.repository.js';
import { EventStreamRepository } from './event-stream.repository.js';
import { ResourceJudgementRepository } from './resource-judgement.repository.js';
import { SecurityEventRepository } from './security-event.repository.js';

const EVENTS = 100_000;
const STREAMS = 100;
const SESSIONS = 20_000;
const HOUR_MS = 3_600_000;
const BOUNDS = { maxStreams: STREAMS, silentMs: HOUR_MS, replaceableMs: HOUR_MS };
const TABLES = [
  ...['account', 'session', 'resource_session', 'audit_event'],
  ...['security_event', 'event_stream', 'event_acknowledgement'],
];
/** A page, its acknowledgements and causes, each read a few times. No statement reads a table. */
const MOST_ROWS = 3000;

/** Transaction numbers that have passed, because events are in the order of their transactions. */
const BURN = `
  DO $$ BEGIN FOR n IN 1..${EVENTS} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$`;

const FILL = [
  `INSERT INTO account (id, created_at, key_mode, encryption_mode)
   SELECT gen_random_uuid(), now(), 'keyless', 'plain' FROM generate_series(1, 1000)`,
  `INSERT INTO session (id, account_id, token_epoch, created_at, last_seen_at, expires_at, method)
   SELECT gen_random_uuid(), id, 0, now(), now(), now() + interval '1 hour', 'key_challenge'
   FROM account, generate_series(1, ${SESSIONS} / 1000)`,
  `INSERT INTO resource_session (id, session_id, account_id, resource_server, expires_at, rules)
   SELECT gen_random_uuid(), id, account_id, 'relay', expires_at, 'r' FROM session`,
  `INSERT INTO security_event (id, resource_server, xid, at, sid, account_id, txn)
   SELECT gen_random_uuid(), 'relay', pg_snapshot_xmin(pg_current_snapshot())::text::bigint - n,
     now(), gen_random_uuid(), gen_random_uuid(), n FROM generate_series(1, ${EVENTS}) AS n`,
  `INSERT INTO audit_event (at, kind, actor, account_id, txn)
   SELECT at, 'account-disabled', 'operator', account_id, txn FROM security_event`,
  `INSERT INTO event_stream (id, resource_server, created_at, polled_at, position)
   SELECT gen_random_uuid(), 'relay', now(), now(), 0 FROM generate_series(1, ${STREAMS})`,
];

const STATISTICS: readonly (readonly [string, (url: string) => Promise<void>])[] = [
  ['were never analysed', () => Promise.resolve()],
  ['were analysed while they were empty', (url) => vacuum(url)],
  [
    'were analysed with one row each',
    async (url) => {
      const accountId = '7f7c0c2e-4b0b-4a5e-9f63-3a1d7c1b7a52';
      const at = `now() + interval '1 hour'`;
      await runSql(
        url,
        `INSERT INTO account (id, created_at, key_mode, encryption_mode)
        VALUES ('${accountId}', now(), 'keyless', 'plain')`,
      );
      await runSql(
        url,
        `INSERT INTO session
        (id, account_id, token_epoch, created_at, last_seen_at, expires_at, method)
        VALUES ('${accountId}', '${accountId}', 0, now(), now(), ${at}, 'key_challenge')`,
      );
      await runSql(
        url,
        `INSERT INTO resource_session
        (id, session_id, account_id, resource_server, expires_at, rules)
        VALUES ('${accountId}', '${accountId}', '${accountId}', 'relay', ${at}, 'r')`,
      );
      await runSql(
        url,
        `INSERT INTO security_event (id, resource_server, at, txn, account_id)
        VALUES ('${accountId}', 'relay', now(), 1, '${accountId}')`,
      );
      await runSql(
        url,
        `INSERT INTO audit_event (at, kind, actor, account_id, txn)
        VALUES (now(), 'account-disabled', 'operator', '${accountId}', 1)`,
      );
      await vacuum(url);
    },
  ],
];

async function vacuum(url: string): Promise<void> {
  await runSql(url, `VACUUM ANALYZE ${TABLES.join(', ')}`);
}

describe.each(STATISTICS)('the event log, in tables that %s', (_name, analyse) => {
  let store: Store;
  let source: ServerDataSource;
  let executed: Executed[] = [];
  let log: SecurityEventRepository;
  let streams: EventStreamRepository;
  let statistics: EventStatisticsRepository;
  let retention: EventRetentionRepository;
  let judgement: ResourceJudgementRepository;

  const poll = (streamId: string, acknowledged: readonly string[] = []) =>
    log.poll({
      ...{ streamId, resourceServer: 'relay', acknowledged, limit: 200 },
      ...{ causes: ['account-disabled'], silentMs: HOUR_MS },
    });
  const streamIds = async (): Promise<string[]> =>
    (await source.query<{ id: string }[]>('SELECT id FROM event_stream ORDER BY id')).map(
      ({ id }) => id,
    );
  const endSession = () =>
    source.query(`DELETE FROM session WHERE id = (SELECT id FROM session LIMIT 1)`);
  const disableAccount = () =>
    source.query(`UPDATE account SET disabled_at = now() WHERE id = (
      SELECT id FROM account WHERE disabled_at IS NULL LIMIT 1)`);
  const judgeDue = () =>
    judgement.judgeDue({ now: new Date(), limit: 50, resourceServers: ['relay'] }, (due) =>
      Promise.resolve(
        due.map((_one, index) =>
          index % 2 === 0 ? { code: 'not-eligible' } : { until: Infinity, rules: 'r' },
        ),
      ),
    );
  /** Everything that the log does for one page, and for one act. */
  const useAll = async (streamId: string): Promise<void> => {
    const polled = await poll(streamId);
    await poll(
      streamId,
      polled?.events.map(({ id }) => id),
    );
    await log.arrivedAt([streamId]);
    await endSession();
    await disableAccount();
    await judgement.markOtherRules('relay', 'r', 50);
    await judgeDue();
  };

  beforeAll(async () => {
    store = await createStore();
    const url = store.databaseUrl ?? '';
    for (const table of TABLES) {
      await runSql(url, `ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
    }
    await analyse(url);
    ({ source, executed } = await openRecorded(url));
    const database = new DatabaseService(source);
    log = new SecurityEventRepository(database);
    const entities = source.getRepository(EventStreamEntity);
    streams = new EventStreamRepository(database, new Random(), entities);
    statistics = new EventStatisticsRepository(database);
    retention = new EventRetentionRepository(database);
    judgement = new ResourceJudgementRepository(database);
    // The connection keeps plans of these tables.
    const early = (await streams.add('relay', null, HOUR_MS, BOUNDS))?.id ?? '';
    for (let use = 0; use < 7; use += 1) {
      await useAll(early);
    }
    await streams.remove({ id: early, resourceServer: 'relay' });
    await runSql(url, BURN);
    for (const statement of FILL) {
      await runSql(url, statement);
    }
  });

  afterAll(async () => {
    await source.destroy();
    await store.drop();
  });

  it(`reads a page of ${EVENTS} events for one of ${STREAMS} streams, and no more`, async () => {
    const ids = await streamIds();
    const [first = '', second = ''] = ids;
    executed.length = 0;
    const seen = new Set<string>();
    let acknowledged: string[] = [];
    for (let page = 0; page < 5; page += 1) {
      const polled = await poll(first, acknowledged);
      expect(polled).toMatchObject({ acknowledged: acknowledged.length, moreAvailable: true });
      expect(polled?.events.map(({ cause }) => cause?.kind)).toEqual(
        Array(200).fill('account-disabled'),
      );
      acknowledged = polled?.events.map(({ id }) => id) ?? [];
      acknowledged.forEach((id) => seen.add(id));
    }
    expect(seen.size).toBe(1000);
    // Every second one: the rest is read again, and the acknowledgements are kept.
    const half = acknowledged.filter((_id, index) => index % 2 === 0);
    expect((await poll(first, half))?.events[0]?.id).toBe(acknowledged[1]);
    expect(await log.arrivedAt([second])).toEqual([second]);
    expectFewRows(executed, MOST_ROWS);
    executed.length = 0;
    expect((await log.arrivedAt(ids)).length).toBe(STREAMS);
    expectFewRows(executed, STREAMS * 10);
  });

  it('ends a session, an account and due sessions by reading them alone', async () => {
    executed.length = 0;
    const begun = executed.length;
    await endSession();
    await disableAccount();
    const acts = executed.slice(begun);
    await source.query(`UPDATE resource_session SET judge_at = now() - interval '1 second'
      WHERE id IN (SELECT id FROM resource_session ORDER BY id LIMIT 50)`);
    executed.length = 0;
    executed.push(...acts);
    await judgement.markOtherRules('relay', 'r', 50);
    expect((await judgeDue()).judged).toBe(50);
    expectFewRows(executed, 400);
  });

  it('removes a batch of surplus events, and the streams that miss one', async () => {
    const [first = ''] = await streamIds();
    await source.query('UPDATE event_stream SET cursor_xid = 0 WHERE id <> $1', [first]);
    await retention.deleteBatch({ keptMs: HOUR_MS, maxEvents: EVENTS - 500, silentMs: HOUR_MS });
    const left = await statistics.streams(['relay']);
    expect(left.map(({ id, waiting }) => ({ id, waiting }))).toEqual([
      { id: first, waiting: MAX_WAITING },
    ]);
  });
});
