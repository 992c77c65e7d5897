import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { waitFor } from '../../../../test/helpers/wait.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { RedisService } from './redis.service.js';

describe(RedisService, () => {
  let server: Server;
  let redis: RedisService;
  let received = '';
  let answer: (command: string) => string;

  beforeEach(async () => {
    received = '';
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString();
        const commands = chunk.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g);
        socket.write([...commands].map(([, name = '']) => answer(name.toLowerCase())).join(''));
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

  it('retries while the password is refused, and subscribes once it is right', async () => {
    answer = () => '-WRONGPASS invalid username-password pair\r\n';
    const listener = redis.broadcasts.duplicate();
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
