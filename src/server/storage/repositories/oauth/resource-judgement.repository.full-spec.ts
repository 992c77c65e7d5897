import { createStore, type Store } from '../../../../../test/fixtures/programs/store-fixture.js';
import { resolveSettings } from '../../../config/resolve-settings.js';
import { dataSourceOptions } from '../../data-source.js';
import { DatabaseService } from '../../database.service.js';
import { ServerDataSource } from '../../server-data-source.js';
import { ResourceJudgementRepository } from './resource-judgement.repository.js';

const { storage } = resolveSettings({}).settings;
const SESSIONS = 600;
const REPLICAS = 4;
const BATCH = { now: new Date(), limit: 50, resourceServers: ['relay'] };

describe(ResourceJudgementRepository, () => {
  let store: Store;
  let sources: ServerDataSource[];
  let replicas: ResourceJudgementRepository[];
  beforeAll(async () => {
    store = await createStore();
    sources = Array.from(
      { length: REPLICAS },
      () => new ServerDataSource({ ...dataSourceOptions(storage), url: store.databaseUrl ?? '' }),
    );
    await Promise.all(sources.map((source) => source.initialize()));
    sources.forEach((source) => source.open(true));
    replicas = sources.map(
      (source) => new ResourceJudgementRepository(new DatabaseService(source)),
    );
  });
  afterAll(async () => {
    await Promise.all(sources.map((source) => source.destroy()));
    await store.drop();
  });
  beforeEach(async () => {
    await query('DELETE FROM resource_session');
    await query('DELETE FROM security_event');
    await query(
      `INSERT INTO resource_session
         (id, session_id, account_id, resource_server, expires_at, judge_at)
       SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'relay',
         now() + interval '1 hour', now() FROM generate_series(1, $1)`,
      [SESSIONS],
    );
  });

  const query = async <Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> =>
    (await sources[0]?.query<Row[]>(sql, parameters)) ?? [];

  it('judges each session on one of several replicas, and reports each end once', async () => {
    const judged: string[] = [];
    await Promise.all(
      replicas.map(async (replica) => {
        let count = BATCH.limit;
        while (count === BATCH.limit) {
          const batch = await replica.judgeDue(BATCH, (due) => {
            judged.push(...due.map(({ id }) => id));
            return Promise.resolve(
              due.map((_one, index) =>
                index % 2 === 0 ? { code: 'disabled' } : { until: Infinity, rules: 'x' },
              ),
            );
          });
          count = batch.judged;
        }
      }),
    );
    expect([judged.length, new Set(judged).size]).toEqual([SESSIONS, SESSIONS]);
    const ended = await query<{ sid: string }>('SELECT sid FROM security_event');
    const left = await query('SELECT FROM resource_session WHERE judge_at IS NULL');
    expect([new Set(ended.map(({ sid }) => sid)).size, ended.length]).toEqual([300, 300]);
    expect(left).toHaveLength(300);
  });

  it('leaves the batch of a replica that fails to the others', async () => {
    const [one, two] = replicas;
    const fail = (): never => {
      throw new Error('The replica ended.');
    };
    await expect(one?.judgeDue(BATCH, fail)).rejects.toThrow('The replica ended.');
    const all = { ...BATCH, limit: SESSIONS };
    const keep = { until: Infinity, rules: 'x' };
    const { judged } = (await two?.judgeDue(all, (due) =>
      Promise.resolve(due.map(() => keep)),
    )) ?? { judged: 0 };
    expect(judged).toBe(SESSIONS);
  });
});
