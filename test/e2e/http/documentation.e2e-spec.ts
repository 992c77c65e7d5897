import { readFile } from 'node:fs/promises';
import type { OpenAPIObject } from '@nestjs/swagger';
import { startServer } from '../../fixtures/programs/server-fixture.js';

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

it('serves the API document of the repository to programs', async () => {
  const kept = new URL('../../../docs/openapi.json', import.meta.url);
  const served: unknown = await (await get('/docs/openapi.json')).json();
  expect(served).toEqual(JSON.parse(await readFile(kept, 'utf8')));
});

it('documents what a server without a configuration offers', async () => {
  const document = (await (await get('/docs/openapi.json')).json()) as OpenAPIObject;
  const answer = document.paths['/v1/features']?.get?.responses['200'];
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
