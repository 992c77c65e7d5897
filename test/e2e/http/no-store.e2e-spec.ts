import { readFileSync } from 'node:fs';
import { call, challengedLogin, logIn, makeDeviceKey } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';

const document = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
) as { readonly paths: Readonly<Record<string, object>> };

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
);

/** Routes that are public, the same for every caller, and have an ETag. */
const CACHEABLE = ['GET /v1/features'];

/** Bodies with which a route succeeds, for routes that need one. */
const BODIES: Readonly<Record<string, object>> = {
  'POST /v1/push-tokens': { token: 't' },
  'POST /v2/account/settings': { content: { t: 'encrypted', c: 'AAAA' }, expectedVersion: 0 },
  'POST /v1/account/settings': { settings: 'AAAA', expectedVersion: 0 },
  'PUT /v1/account/credentials/{service}': { content: { t: 'encrypted', c: 'AAAA' } },
};

const server = await startServer();
afterAll(() => server.stop());

describe('Cache-Control: no-store', () => {
  it.each(operations)('sends no-store on %s %s, with a token and without', async (method, path) => {
    const { token } = await logIn(server);
    const name = `${method} ${path}`;
    const body = BODIES[name] ?? (method === 'GET' ? undefined : {});
    const filled = path.replace(/\{\w+\}/g, 'some');
    const answers = [
      await call(server, method, filled, { body, token }),
      await call(server, method, filled, { body }),
    ];
    const expected = CACHEABLE.includes(name) ? 'no-cache' : 'no-store';
    for (const { status, headers } of answers) {
      expect({ status, cacheControl: headers['cache-control'] }).toEqual({
        status: expect.any(Number),
        cacheControl: expected,
      });
    }
  });

  it('sends no-store on successful answers with a token or with stored data', async () => {
    const key = makeDeviceKey();
    const { token } = await logIn(server, key);
    const reads = ['/v1/account/profile', '/v2/account/settings', '/v1/push-tokens'];
    const answers = await Promise.all([
      call(server, 'POST', '/v1/auth/challenge', { body: {} }),
      call(server, 'POST', '/v1/auth', { body: await challengedLogin(server, key) }),
      ...reads.map((path) => call(server, 'GET', path, { token })),
    ]);
    expect(answers.map(({ status, headers }) => [status, headers['cache-control']])).toEqual(
      answers.map(() => [200, 'no-store']),
    );
  });
});
