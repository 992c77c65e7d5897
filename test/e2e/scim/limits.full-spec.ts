import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { OWN_PROCESS } from '../../fixtures/programs/server-fixture.js';
import { GUILD_TOKEN, ScimFixture } from '../../fixtures/scim-fixture.js';

/** Requests of a directory within a minute. */
const LIMIT = 20_000;
const PEOPLE = 600;
const AT_ONCE = 50;
const POOL_SIZE = 4;
const MOST_GROWTH_BYTES = 200 * 1024 * 1024;

const fixture = await OffboardingFixture.open();
const scim = new ScimFixture(fixture);
const env = {
  ...KEYLESS,
  AUTH_PROVIDERS_CONFIG_JSON: scim.providers(),
  SERVICE_DATABASE_POOL_SIZE: String(POOL_SIZE),
};
const server = await fixture.start(env, OWN_PROCESS);
afterAll(() => fixture.close());

describe('many requests of a directory', () => {
  const residentBytes = (): number => {
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
  };

  it('deactivates many people at once with a bounded number of connections and bounded memory', async () => {
    await fixture.sql.query(
      `INSERT INTO directory_person (id, provider, external_id, user_name, is_active, emails,
         email_values, created_at, changed_at)
       SELECT md5(n::text)::uuid, 'people', 'person-' || n, 'person-' || n, true, '[]', '{}',
         now(), now()
       FROM generate_series(1, $1::int) AS n`,
      [PEOPLE],
    );
    const { rows } = await fixture.sql.query<{ id: string }>('SELECT id FROM directory_person');
    const waiting = rows.map(({ id }) => id);
    const off = [{ op: 'replace', value: { active: false } }];
    const before = residentBytes();
    let connections = 0;
    const work = async (): Promise<void> => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        expect((await scim.patch(server, id, off)).status).toBe(200);
      }
    };
    const watch = async (): Promise<void> => {
      while (waiting.length > 0) {
        const found = await fixture.sql.query<{ count: number }>(
          `SELECT count(*)::int FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'gatehouse'`,
        );
        connections = Math.max(connections, found.rows[0]?.count ?? 0);
      }
    };
    await Promise.all([watch(), ...Array.from({ length: AT_ONCE }, work)]);
    expect(connections).toBeGreaterThan(0);
    expect(connections).toBeLessThanOrEqual(POOL_SIZE + 1);
    expect(residentBytes() - before).toBeLessThan(MOST_GROWTH_BYTES);
    const stored = await fixture.sql.query(
      `SELECT count(*)::int FROM identity_signal WHERE source = 'directory' AND NOT is_allowed`,
    );
    expect(stored.rows).toEqual([{ count: PEOPLE }]);
  });

  it('answers 429 beyond the limit of a directory, and serves another one', async () => {
    expect((await scim.send(server, 'GET', '/Users?count=0')).status).toBe(200);
    const redis = new Redis(fixture.env['REDIS_URL'] ?? '');
    const keys = await redis.keys('gatehouse:rate:*scimPerProvider:people');
    expect(keys).toHaveLength(1);
    await redis.set(keys[0] ?? '', LIMIT, 'KEEPTTL');
    const body = { userName: randomUUID() };
    const answer = await scim.send(server, 'POST', '/Users', { body });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(answer.body).toMatchObject({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '429',
    });
    const guild = { provider: 'guild', token: GUILD_TOKEN };
    expect((await scim.send(server, 'GET', '/Users?count=0', guild)).status).toBe(200);
    // The next spec of this worker uses the same Redis.
    await redis.del(keys);
    redis.disconnect();
  });
});
