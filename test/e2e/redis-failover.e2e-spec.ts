import { Redis } from 'ioredis';
import { call } from '../helpers/client.js';
import { IS_POSTGRES, startServer, type Server } from '../helpers/server.js';
import { startRedis, type Service } from '../helpers/services.js';
import { TcpProxy } from '../helpers/tcp-proxy.js';

const PER_MINUTE = 20;

const withServices = IS_POSTGRES ? describe : describe.skip;
withServices('a Redis that fails over and keeps its connections (needs Redis)', () => {
  let first: Service;
  let second: Service;
  let proxy: TcpProxy;
  let server: Server;

  beforeAll(async () => {
    [first, second] = await Promise.all([startRedis(), startRedis()]);
    proxy = await TcpProxy.start(portOf(first));
    server = await startServer({
      env: {
        REDIS_URL: proxy.urlFor(first.url),
        SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: String(PER_MINUTE),
      },
    });
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    proxy.close();
    await Promise.all([first.stop(), second.stop()]);
  });

  const isLimited = async (): Promise<boolean> => {
    const answers = Array.from({ length: 2 * PER_MINUTE }, () =>
      call(server, 'GET', '/v1/account/profile'),
    );
    return (await Promise.all(answers)).some(({ status }) => status === 429);
  };

  it('is followed to its new primary: limits hold again without a restart', async () => {
    expect(await isLimited()).toBe(true);
    proxy.leadTo(portOf(second));
    const old = new Redis(first.url);
    await old.replicaof('127.0.0.1', portOf(second));
    old.disconnect();
    for (const end = Date.now() + 15_000; !(await isLimited());) {
      expect(Date.now()).toBeLessThan(end);
    }
  }, 40_000);
});

function portOf({ url }: Service): number {
  return Number(new URL(url).port);
}
