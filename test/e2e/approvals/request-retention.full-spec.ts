import { Redis } from 'ioredis';
import { resolveSettings } from '../../../src/server/config/resolve-settings.js';
import { dataSourceOptions } from '../../../src/server/storage/data-source.js';
import { DatabaseService } from '../../../src/server/storage/database.service.js';
import { ExpiredRowsRepository } from '../../../src/server/storage/repositories/expired-rows.repository.js';
import { ServerDataSource } from '../../../src/server/storage/server-data-source.js';
import { call, logIn } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { sessionIdOf } from '../../fixtures/sessions-fixture.js';
import { RequestCalls, sealedText } from '../../helpers/request-calls.js';

const METRICS_TOKEN = 'a-metrics-token-of-the-spec';
const REDIS_URL = `${process.env['TEST_REDIS_URL']}/${process.env['JEST_WORKER_ID']}`;
const PROBE_KEY = 'gatehouse:rate:probe';
const HOUR_MS = 3_600_000;
const MAX_CLOSED = 100;
const { storage } = resolveSettings({}).settings;

let asker: RequestCalls;

const store = await createStore();
const server = await startServer({ store, env: { REDIS_URL, METRICS_TOKEN } });
const source = new ServerDataSource({
  ...dataSourceOptions(storage),
  url: store.databaseUrl ?? '',
});
await source.initialize();
source.open(true);
const database = new DatabaseService(source);
const expiredRows = new ExpiredRowsRepository(database);
beforeEach(async () => {
  asker = new RequestCalls(server, (await logIn(server)).token);
});
afterAll(async () => {
  await source.destroy();
  await server.stop();
  await store.drop();
});

describe('the retention of requests', () => {
  const count = async (table: string, where = 'true'): Promise<number> => {
    const [row] = await source.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM ${table} WHERE ${where}`,
    );
    return row?.count ?? NaN;
  };
  const rows = () => count('agent_request');
  /** The work of the jobs at that time. */
  const tick = async (at: number): Promise<number> => {
    const { expired } = await expiredRows.expireRequests(new Date(at));
    await expiredRows.deleteBatch(new Date(at));
    return expired;
  };

  async function answeredAndTaken(): Promise<string> {
    const id = await asker.asked();
    await asker.answer(id, { sealed: sealedText() });
    await asker.close(id, sessionIdOf(asker.token));
    return id;
  }

  it('drops contents at the end, and rows with their answers an hour later', async () => {
    const asked = Date.now();
    const answered = await answeredAndTaken();
    await asker.close(await asker.asked());
    await asker.asked({ expiresAt: asked + HOUR_MS / 2 });
    await asker.asked({ expiresAt: asked + 23 * HOUR_MS });
    expect(await tick(asked)).toBe(0);
    expect([await rows(), await count('request_answer')]).toEqual([4, 1]);
    expect(await count('agent_request', 'content IS NOT NULL')).toBe(2);
    expect(await tick(asked + HOUR_MS / 2)).toBe(1);
    expect(await count('agent_request', 'content IS NOT NULL')).toBe(1);
    expect(await tick(Date.now() + HOUR_MS)).toBe(0);
    expect([await rows(), await count('request_answer')]).toEqual([2, 0]);
    expect((await asker.read(answered)).status).toBe(404);
    await tick(asked + 1.5 * HOUR_MS);
    expect(await rows()).toBe(1);
    await tick(asked + 24 * HOUR_MS);
    expect(await rows()).toBe(0);
  });

  it('keeps a bounded number of ended requests of an account', async () => {
    for (let index = 0; index < MAX_CLOSED + 20; index += 1) {
      await answeredAndTaken();
    }
    await asker.asked();
    expect(await count('agent_request', `state = 'answered'`)).toBe(MAX_CLOSED);
    expect(await count('request_answer')).toBe(MAX_CLOSED);
  });

  it('adds no key to Redis, and no series to the metrics, for another request', async () => {
    const redis = new Redis(REDIS_URL);
    const series = async (): Promise<readonly string[]> => {
      const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
      const lines = text.split('\n').filter((line) => /^gatehouse_(agent|http)_/.test(line));
      return lines.map((line) => line.replace(/ \S+$/, '')).sort();
    };
    // The probe of Redis leaves its counter for a second.
    const keys = async () => (await redis.keys('*')).filter((key) => key !== PROBE_KEY).sort();
    const state = async () => [await keys(), await series()];
    await answeredAndTaken();
    await asker.close(await asker.asked());
    await series();
    const before = await state();
    for (let index = 0; index < 10; index += 1) {
      await answeredAndTaken();
      await asker.close(await asker.asked());
    }
    expect(await state()).toEqual(before);
    redis.disconnect();
  });
});
