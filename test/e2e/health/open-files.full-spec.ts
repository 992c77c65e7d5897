import { execFileSync } from 'node:child_process';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { call } from '../../helpers/client.js';

describe('a server that may open no more files', () => {
  it('answers the requests that need none: discovery, probes and challenges', async () => {
    const server = await startServer();
    await call(server, 'GET', '/livez');
    const permit = (count: number): unknown =>
      execFileSync('prlimit', ['--pid', String(server.pid), `--nofile=${count}:`]);
    permit(1);
    const publicKey = Buffer.alloc(32, 7).toString('base64');
    for (const [method, path, body] of [
      ['GET', '/livez', undefined],
      ['GET', '/readyz', undefined],
      ['GET', '/v1/features', undefined],
      ['POST', '/v1/auth/challenge', { publicKey }],
    ] as const) {
      const { status } = await call(server, method, path, { body });
      expect({ path, status }).toEqual({ path, status: 200 });
    }
    permit(1024);
    await server.stop();
  });
});
