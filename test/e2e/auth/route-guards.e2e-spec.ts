import { readFileSync } from 'node:fs';
import { call, logIn, refusalOf } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly needsToken: boolean;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Routes that a valid token may call under any provider policy (contract). */
const OPEN = /^\/v1\/(?:connect\/(?:external\/|certificate)|account\/profile$|auth\/logout)/;

/** Every route of the document, with a value for each of its parameters. */
const operations: Operation[] = Object.entries(
  (
    JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as {
      paths: Record<string, Record<string, { security?: object[] }>>;
    }
  ).paths,
).flatMap(([path, methods]) =>
  METHODS.filter((method) => method in methods).map((method) => ({
    method: method.toUpperCase(),
    path: path.replace(/\{\w+\}/g, 'anything'),
    needsToken: (methods[method]?.security ?? []).length > 0,
  })),
);

const protectedOnes = operations.filter(({ needsToken }) => needsToken);

const server = await startServer({ env: { AUTH_REQUIRED_LOGIN_PROVIDERS: 'github' } });
const { token } = await logIn(server);
afterAll(() => server.stop());

it('finds public and guarded routes', () => {
  expect(protectedOnes.length).toBeGreaterThan(15);
  expect(operations.length - protectedOnes.length).toBeGreaterThan(5);
});

it.each(protectedOnes)('refuses $method $path without a token', async ({ method, path }) => {
  expect(refusalOf(await call(server, method, path, {}))).toEqual({
    status: 401,
    code: 'missing-token',
  });
});

it.each(protectedOnes.filter(({ path }) => !OPEN.test(path)))(
  'refuses $method $path while the required provider is missing',
  async ({ method, path }) => {
    const answer = await call(server, method, path, { token });
    expect(refusalOf(answer)).toEqual({ status: 403, code: 'provider-required' });
    expect(answer.body['provider']).toBe('github');
  },
);

it('permits the routes that a person needs to connect the provider', async () => {
  expect((await call(server, 'GET', '/v1/account/profile', { token })).status).toBe(200);
  const connect = await call(server, 'GET', '/v1/connect/external/github/params', { token });
  expect(refusalOf(connect)).toEqual({ status: 404, code: 'unsupported-provider' });
  expect((await call(server, 'POST', '/v1/auth/logout', { token })).status).toBe(200);
});
