import { call } from '../../helpers/client.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { DATABASE_TIMES } from '../../fixtures/programs/store-fixture.js';
import { startPostgres, startRedis } from '../../fixtures/programs/services-fixture.js';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';

const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Corp');
const tls = authority.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
const SERVICE_CA_BUNDLE = authority.certPath;
const MASTER_SECRET = 'a-master-secret-that-only-tests-know-0123456789';
let server: Server | null = null;

const [postgres, redis] = await Promise.all([
  startPostgres({ durable: false, tls }),
  startRedis({ tls }),
]);
const env = {
  DATABASE_URL: `${postgres.url}?sslmode=verify-full`,
  REDIS_URL: redis.url,
  SERVICE_MASTER_SECRET: MASTER_SECRET,
  ...DATABASE_TIMES,
};
afterEach(async () => {
  await server?.stop();
  server = null;
});
afterAll(() => Promise.all([postgres.stop(), redis.stop()]));

const start = async (given: Readonly<Record<string, string>>): Promise<Server> => {
  const store = { databaseUrl: null, env, drop: () => Promise.resolve() };
  server = await startServer({ store, env: given, untilReady: false });
  return server;
};

describe('a Redis with another scheme than that of its address', () => {
  it.each([
    ['rediss', 'redis', process.env['TEST_REDIS_URL'], 'does not speak TLS.*redis://'],
    ['redis', 'rediss', redis.url, 'speaks TLS.*rediss://'],
  ])('is named for %s:// where the server needs %s://', async (scheme, _, url, message) => {
    const REDIS_URL = (url ?? '').replace(/^rediss?/, scheme);
    const running = await start({ REDIS_URL, SERVICE_CA_BUNDLE });
    await running.logged(new RegExp(`Redis is not available: The server ${message}`));
    const cli = await createCliUser();
    const { stdout } = await cli.run(['doctor'], { REDIS_URL });
    expect(stdout).toMatch(new RegExp(`failed +redis +The server ${message}`));
  });
});

describe('a database and a Redis with certificates of a private authority', () => {
  it('refuses them without the certificate of that authority', async () => {
    const running = await start({});
    await running.logged(/database is not available: .*certificate/);
    await running.logged(/Redis is not available: .*certificate/);
    expect((await call(running, 'GET', '/readyz')).status).toBe(503);
  });

  it.each(['SERVICE_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS'])(
    'connects to them with %s',
    async (name) => {
      const cli = await createCliUser();
      const migrated = await cli.run(['migrate'], { ...env, [name]: SERVICE_CA_BUNDLE });
      expect(migrated).toMatchObject({ code: 0 });
      const DATABASE_URL = `${postgres.url}?sslmode=require`;
      const running = await start({ [name]: SERVICE_CA_BUNDLE, DATABASE_URL });
      await running.logged(/The database is ready/);
      await running.logged(/Redis is ready/);
      await running.logged(/DATABASE_URL has sslmode=require/);
      const lines = running.logs().trim().split('\n');
      expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
      expect((await call(running, 'GET', '/readyz')).status).toBe(200);
    },
  );
});
