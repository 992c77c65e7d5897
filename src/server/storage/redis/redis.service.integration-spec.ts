import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { Redis } from 'ioredis';
import { waitFor } from '../../../../test/helpers/wait.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { redisRateStore } from './redis-rate-store.js';
import { RedisService } from './redis.service.js';

describe(RedisService, () => {
  let server: Server;
  let redis: RedisService;
  let received = '';
  let answer: (command: string) => string;
  let delayMs: number;

  beforeEach(async () => {
    received = '';
    answer = () => '';
    delayMs = 0;
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString();
        const commands = chunk.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g);
        const text = [...commands].map(([, name = '']) => answer(name.toLowerCase())).join('');
        setTimeout(() => socket.write(text), delayMs);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    redis = await RedisService.open(
      {
        redisUrl: `redis://:secret@127.0.0.1:${port}`,
        redisSentinels: [],
        redisSentinelPassword: null,
        redisClusterNodes: [],
        caBundle: null,
      },
      new Runtime(),
    );
  });
  afterEach(async () => {
    redis.onApplicationShutdown();
    server.close();
    await once(server, 'close');
  });

  it('refuses commands at once while Redis hangs, and does not queue them', async () => {
    answer = () => '';
    await waitFor('a question', () => received !== '');
    expect(redis.state).toBe('away');
    // No answer ends this command, so it must not be sent.
    await expect(redis.commands.incr('a-counter')).rejects.toThrow(/writeable/);
    expect(await redis.broadcasts.publish('a-channel', 'a message')).toBe(0);
    expect(received).not.toMatch(/a-counter|a-channel/);
  });

  it('is away while each answer comes late, and no request waits for one', async () => {
    answer = (command) => (command === 'info' ? '$20\r\nredis_version:7.0.15\r\n' : '+OK\r\n');
    await waitFor('ready', () => redis.state === 'ready');
    delayMs = 700;
    await waitFor('away', () => redis.state === 'away');
    expect(redis.commands.status).toBe('ready');
    const counts = new (redisRateStore(redis, 10))({});
    const count = new Promise((done) => counts.incr('a-key', (_error, one) => done(one), 1000, 5));
    expect(await count).toMatchObject({ current: 1 });
    expect(received).not.toContain('a-key');
    delayMs = 0;
    await waitFor('ready again', () => redis.state === 'ready');
  });

  it('retries while the password is refused, and subscribes once it is right', async () => {
    answer = () => '-WRONGPASS invalid username-password pair\r\n';
    const listener = (redis.broadcasts as Redis).duplicate();
    const subscription = listener.subscribe('a-channel');
    const countRequests = (): number => received.match(/secret/g)?.length ?? 0;
    await waitFor('each of three connections has asked twice', () => countRequests() >= 6);
    const replies = new Map([
      ['info', '$20\r\nredis_version:7.0.15\r\n'],
      ['subscribe', '*3\r\n$9\r\nsubscribe\r\n$9\r\na-channel\r\n:1\r\n'],
    ]);
    answer = (command) => replies.get(command) ?? '+OK\r\n';
    expect(await subscription).toBe(1);
  });
});
