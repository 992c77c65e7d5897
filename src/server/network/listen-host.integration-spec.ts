import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { listenOn } from './listen-host.js';

describe(listenOn.name, () => {
  const servers: Server[] = [];
  const NAMES = { port: 'METRICS_PORT', host: 'METRICS_HOST' };

  const listenAt = (host: string, port = 0): Promise<unknown> => {
    const server = createServer();
    servers.push(server);
    return listenOn({ port, host }, NAMES, (address) => once(server.listen(address), 'listening'));
  };

  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  it('names the variable of a port that is in use', async () => {
    await listenAt('127.0.0.1');
    const { port } = servers[0]!.address() as { port: number };
    await expect(listenAt('127.0.0.1', port)).rejects.toThrow(
      `METRICS_PORT ${port} on 127.0.0.1 is in use by another process (EADDRINUSE).`,
    );
  });

  it('names the variable of a host that is not of this machine', async () => {
    // The range of this address is for documentation (RFC 5737).
    await expect(listenAt('192.0.2.1')).rejects.toThrow(
      'METRICS_HOST 192.0.2.1 is not an address of this machine that can be used (EADDRNOTAVAIL).',
    );
  });

  it('names the variable of a host that cannot be resolved', async () => {
    // No name server is asked for a name with an empty label.
    await expect(listenAt('gate..example')).rejects.toThrow(
      /^METRICS_HOST gate\.\.example cannot be resolved \(\w+\)\.$/,
    );
  });

  it.each([
    { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'database.example' },
    { code: 'EADDRINUSE', syscall: 'listen', port: 9000 },
    { code: 'ECONNREFUSED', syscall: 'connect', port: 3000 },
  ])('passes on the failure of another part: %j', async (facts) => {
    const error = Object.assign(new Error('other'), facts);
    const failed = listenOn({ port: 3000, host: 'here.example' }, NAMES, () =>
      Promise.reject(error),
    );
    await expect(failed).rejects.toBe(error);
  });
});
