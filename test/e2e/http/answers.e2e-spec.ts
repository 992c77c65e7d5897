import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { OpenAPIObject } from '@nestjs/swagger';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { call, challengedLogin, logIn, makeDeviceKey } from '../../helpers/client.js';

const server = await startServer();

afterAll(() => server.stop());

const get = (path: string) => fetch(new URL(path, server.url));
const policyOf = (answer: Response) => answer.headers.get('content-security-policy') ?? '';

it('describes every route at /docs, with resources of this server only', async () => {
  const page = await get('/docs');
  expect(page.status).toBe(200);
  const html = await page.text();
  const parts = [...html.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(
    ([, path]) => `${path}`,
  );
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts) {
    expect(part).toMatch(/^\.\/docs\//);
    expect((await get(part)).status).toBe(200);
  }
  expect(policyOf(page)).toContain("default-src 'none'");
  expect(policyOf(page)).toContain("script-src 'self'");
});

it('shows the closed groups of routes at /docs, and opens the route of an address', async () => {
  const script = await (await get('/docs/swagger-ui-init.js')).text();
  expect(script).toMatch(/"docExpansion":\s*"none"/);
  expect(script).toMatch(/"deepLinking":\s*true/);
});

it('serves the API document of the repository to programs', async () => {
  const kept = new URL('../../../docs/openapi.json', import.meta.url);
  const served: unknown = await (await get('/docs/openapi.json')).json();
  expect(served).toEqual(JSON.parse(await readFile(kept, 'utf8')));
});

it('documents what a server without a configuration offers', async () => {
  const served = (await (await get('/docs/openapi.json')).json()) as OpenAPIObject;
  const answer = served.paths['/v1/features']?.get?.responses['200'];
  const content = answer !== undefined && 'content' in answer ? answer.content : {};
  const example = content?.['application/json']?.example as object;
  expect(Object.keys(example)).toEqual(['features', 'capabilities']);
  expect(await (await get('/v1/features')).json()).toMatchObject(example);
});

it.each(['/v1/account/profile', '/readyz', '/nowhere'])(
  'forbids a browser to run anything in the answer of %s',
  async (path) => {
    const answer = await get(path);
    expect(policyOf(answer).split(';').sort()).toEqual([
      "base-uri 'none'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  },
);

it('answers 404 where SERVICE_DOCS_ENABLED is false', async () => {
  const silent = await startServer({ env: { SERVICE_DOCS_ENABLED: 'false' } });
  try {
    expect((await fetch(new URL('/docs', silent.url))).status).toBe(404);
    expect((await fetch(new URL('/docs/openapi.json', silent.url))).status).toBe(404);
  } finally {
    await silent.stop();
  }
});

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
