import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { waitFor } from '../../../test/helpers/wait.js';
import { RedisConnections } from './redis-connections.js';

describe(RedisConnections, () => {
  it('refuses commands at once while Redis hangs, and does not keep them for it', async () => {
    let received = '';
    const silent = createServer((socket) => {
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    });
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const redis = await RedisConnections.open(`redis://127.0.0.1:${port}`);
    try {
      await waitFor('a question', () => received !== '');
      expect(redis.isReady).toBe(false);
      // No answer ends this: only that it is not sent does.
      await expect(redis.commands.incr('a-counter')).rejects.toThrow(/writeable/);
      expect(await redis.cluster.publish('a-channel', 'a message')).toBe(0);
      expect(received).not.toMatch(/a-counter|a-channel/);
    } finally {
      redis.onApplicationShutdown();
      silent.close();
      await once(silent, 'close');
    }
  });
});
