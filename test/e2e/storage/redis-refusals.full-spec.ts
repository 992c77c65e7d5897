import { Redis } from 'ioredis';
import { useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { startRedis } from '../../fixtures/programs/services-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { call, logIn } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { waitFor } from '../../helpers/wait.js';

/** The rules of docs/operate.md. */
const RULES =
  '~socket.io ~gatehouse:* &socket.io* &gatehouse:* +ping +info +select +xadd ' +
  '+xread +publish +subscribe +eval +evalsha +incr +pexpire +pttl';
const METRICS_TOKEN = 'a-token-for-the-metrics-of-the-spec';

const [redis, store] = await Promise.all([startRedis(), createStore()]);
const admin = new Redis(redis.url);
const allow = (rules: string): Promise<unknown> =>
  admin.call('ACL', 'SETUSER', 'gatehouse', 'reset', 'on', '>pass%word', ...rules.split(' '));
await allow(RULES);
const REDIS_URL = redis.url.replace('//', '//gatehouse:pass%25word@');
// A cached access would live longer than the test.
const env = { REDIS_URL, METRICS_TOKEN, AUTH_ACCESS_CACHE_SECONDS: '60' };
const [server, other] = await Promise.all([
  startServer({ store, env }),
  startServer({ store, env }),
]);
const user = useCliUser();

afterAll(async () => {
  await Promise.all([server.stop(), other.stop()]);
  admin.disconnect();
  await Promise.all([redis.stop(), store.drop()]);
});

const redisAt = async (one: Server): Promise<string> => {
  const { status, body } = await call<{ dependencies: { redis: string } }>(one, 'GET', '/readyz');
  expect(status).toBe(200);
  return body.dependencies.redis;
};

const bothAre = async (state: string): Promise<void> => {
  for (const one of [server, other]) {
    await waitFor(`Redis is ${state}`, async () => (await redisAt(one)) === state);
  }
};

/** The result of the check of Redis. */
async function diagnose(url: string): Promise<readonly string[]> {
  const { stdout } = await user.run(['doctor', '--json'], { REDIS_URL: url });
  const { checks } = JSON.parse(stdout) as {
    checks: { check: string; status: string; message: string }[];
  };
  return checks
    .filter(({ check }) => check === 'redis')
    .map(({ status, message }) => `${status}: ${message}`);
}

/** A slow machine may also lose a connection. */
const linesIn = (logs: string): string[] =>
  [...logs.matchAll(/"msg":"(Redis (?:refuses|is ready)[^"]*)"/g)].map(([, line = '']) => line);

const revocationCrosses = async (): Promise<void> => {
  const { token } = await logIn(server);
  const client = await connect(other, { token });
  await client.next('hello');
  await call(server, 'POST', '/v1/auth/logout-everywhere', { token });
  expect(await client.next('closing')).toMatchObject({ code: 'token-revoked' });
};

/** @returns what the server logs about Redis from the refusal to the recovery */
async function refuseFor(
  refuse: () => Promise<unknown>,
  end: () => Promise<unknown>,
): Promise<{ readonly found: readonly string[]; readonly lines: readonly string[] }> {
  await bothAre('ready');
  const before = server.logs().length;
  await refuse();
  await bothAre('refusing');
  const found = await diagnose(REDIS_URL);
  const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
  expect(text).toContain('gatehouse_dependency_up{dependency="redis"} 0');
  await end();
  await bothAre('ready');
  const lines = await waitFor('both lines', () => {
    const logged = linesIn(server.logs().slice(before));
    return logged.length > 1 && logged;
  });
  return { found, lines };
}

describe('a Redis that answers, and refuses commands that the server needs', () => {
  it('is ready with the rights that the documentation lists', async () => {
    await bothAre('ready');
    expect(await diagnose(REDIS_URL)).toEqual(['ok: It answers, and takes writes.']);
    expect(linesIn(server.logs())).toEqual(['Redis is ready.']);
    await revocationCrosses();
  });

  it.each([
    ['write streams', RULES.replace('+xadd', ''), 'XADD.*NOPERM'],
    ['read streams', RULES.replace('+xread', ''), 'XREAD.*NOPERM'],
    ['publish', RULES.replace('+publish', ''), 'PUBLISH.*NOPERM'],
    ['run scripts', RULES.replace(/ \+eval(sha)?/g, ''), 'EVAL.*NOPERM'],
    ['count', RULES.replace('+incr', ''), "EVAL.*can't run this command"],
    ['subscribe', RULES.replace('+subscribe', ''), 'SUBSCRIBE.*NOPERM'],
  ])('names a user that may not %s once, and recovers', async (_, rules, reason) => {
    const { found, lines } = await refuseFor(
      async () => {
        await allow(rules);
        // A subscription that exists needs no right.
        await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      },
      () => allow(RULES),
    );
    expect(found).toEqual([expect.stringMatching(`^failed: It refuses .*${reason}`)]);
    expect(lines).toEqual([expect.stringMatching(`^Redis refuses .*${reason}`), 'Redis is ready.']);
  });

  it('names a full memory once, and recovers', async () => {
    const { found, lines } = await refuseFor(
      () => admin.config('SET', 'maxmemory', '1'),
      () => admin.config('SET', 'maxmemory', '0'),
    );
    expect(found).toEqual([expect.stringMatching('^failed: It refuses .*OOM')]);
    expect(lines).toEqual([expect.stringMatching('^Redis refuses .*OOM'), 'Redis is ready.']);
    await revocationCrosses();
  });

  it('names a stream that another program uses as a text', async () => {
    const { found } = await refuseFor(
      async () => {
        await admin.del('socket.io');
        await admin.set('socket.io', 'a text');
      },
      () => admin.del('socket.io'),
    );
    expect(found).toEqual([expect.stringMatching('^failed: It refuses XADD.*WRONGTYPE')]);
  });

  it('names a database that the server does not have, once', async () => {
    const url = `${redis.url}/99`;
    const found = await diagnose(url);
    expect(found).toEqual([expect.stringMatching('^failed: It refuses SELECT 99.*out of range')]);
    const lost = await startServer({ env: { REDIS_URL: url } });
    await waitFor('it is named', async () => (await redisAt(lost)) === 'refusing');
    await lost.logged(/Redis refuses/);
    await redis.restart();
    await waitFor('it is named again', async () => (await redisAt(lost)) === 'refusing');
    expect(linesIn(lost.logs())).toEqual([expect.stringMatching('^Redis refuses SELECT 99')]);
    await lost.stop();
  });
});
