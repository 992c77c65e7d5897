import * as fc from 'fast-check';
import { call, expectErrorShape, logIn, type Answer } from '../../helpers/client.js';
import { connect, refusedConnect } from '../../helpers/client-live.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { unicodeText } from '../../helpers/unicode-text.js';
import { OPERATIONS } from './documented-operations.js';

const RUNS = { numRuns: 25, seed: 20_261_121 };

/** These routes would end the session of the other attempts. */
const ENDS_THE_SESSION = ['/v1/auth/logout', '/v1/auth/logout-everywhere', '/v1/account'];

const tried = OPERATIONS.filter(({ path }) => !ENDS_THE_SESSION.includes(path));

const server = await startServer();
const { token } = await logIn(server);
afterAll(() => server.stop());

function expectDecent(answer: Answer): void {
  expect(answer.status).toBeLessThan(500);
  if (answer.status >= 400) {
    expectErrorShape(answer);
  }
}

const segment = fc.oneof(
  fc.string({ maxLength: 60 }),
  unicodeText({ maxLength: 40 }),
  fc.constantFrom('..', '.', '%00', '%2f', 'constructor', '__proto__', 'null', '💥', ' ', '%F0%9F'),
);

/** A field of a body, often one that the routes expect, so that it passes the first check. */
const field = fc.constantFrom(
  ...['publicKey', 'challenge', 'signature', 'token', 'response', 'pending', 'proof', 'code'],
  ...['settings', 'content', 'expectedVersion', 'mode', 'toMode', 'credentials', 'service'],
  ...['clientServerUrl', '__proto__', 'constructor', 'toString'],
);

const body = fc.oneof(
  fc.dictionary(field, fc.jsonValue({ maxDepth: 4 }), { maxKeys: 8 }),
  fc.jsonValue({ maxDepth: 6 }),
  fc.string(),
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
);

const headers = fc.dictionary(
  fc.stringMatching(/^[a-z][a-z-]{0,20}$/).filter((name) => !HOP_BY_HOP.has(name)),
  fc.stringMatching(/^[\x20-\x7e]{0,60}$/),
  { maxKeys: 4 },
);

const HOP_BY_HOP = new Set(['connection', 'content-length', 'transfer-encoding', 'host', 'expect']);
const BODILESS = new Set(['GET', 'HEAD']);

function fill(path: string, value: string): string {
  const encoded = /^%[0-9A-F%a-f]+$/.test(value)
    ? value
    : encodeURIComponent(Buffer.from(value).toString());
  return path.replace(/\{\w+\}/g, encoded === '' ? 'x' : encoded);
}

describe.each(tried)('$method $path', ({ method, path }) => {
  it('answers any body without a fault', async () => {
    await fc.assert(
      fc.asyncProperty(segment, body, headers, fc.boolean(), async (part, sent, more, known) => {
        const options = {
          headers: more,
          ...(known && { token }),
          ...(!BODILESS.has(method) && { body: sent }),
        };
        expectDecent(await call(server, method, fill(path, part), options));
      }),
      RUNS,
    );
  });
});

describe('the server', () => {
  it('answers any path without a fault', async () => {
    await fc.assert(
      fc.asyncProperty(fc.webPath({ size: 'medium' }), async (path) => {
        expectDecent(await call(server, 'GET', path === '' ? '/' : path, { token }));
      }),
      { ...RUNS, numRuns: 200 },
    );
  });

  it.each<[number, string, string]>([
    [400, 'arrays in arrays, 10,000 deep', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    [400, 'objects in objects, 5,000 deep', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`],
    [400, 'a field 10,000 deep', `{"token":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    [200, '3,000 unknown fields', `{"token":"x",${fields(3000)}}`],
    [413, '50,000 fields', `{${fields(50_000)}}`],
    [400, 'a byte order mark in the middle', '{"token":\ufeff"x"}'],
    [400, 'a lone surrogate', '{"token":"\\ud800"}'],
    [400, 'NaN', '{"token":NaN}'],
    [400, 'a poisoned prototype', '{"__proto__":{"polluted":true},"token":"x"}'],
    [400, 'a poisoned constructor', '{"constructor":{"prototype":{"polluted":true}},"token":"x"}'],
  ])('answers with %i to %s', async (status, _what, text) => {
    const answer = await call(server, 'POST', '/v1/push-tokens', { token, body: text });
    expectDecent(answer);
    expect(answer.status).toBe(status);
  });

  function fields(count: number): string {
    return Array.from({ length: count }, (_, at) => `"k${at}":1`).join();
  }

  it('uses the last of two fields of the same name', async () => {
    const twice = '{"token":"first-of-two","token":"second-of-two"}';
    expect((await call(server, 'POST', '/v1/push-tokens', { token, body: twice })).status).toBe(
      200,
    );
    const { text } = await call(server, 'GET', '/v1/push-tokens', { token });
    expect(text).toContain('second-of-two');
    expect(text).not.toContain('first-of-two');
  });

  it('refuses arbitrary handshakes with the documented error shape', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.constantFrom('token', 'clientType', 'sessionId', 'machineId', '__proto__', 'x'),
          fc.jsonValue({ maxDepth: 3 }),
        ),
        async (auth) => {
          const refusal = await refusedConnect(server, auth);
          expect(refusal.data).toMatchObject({ code: refusal.message, error: refusal.message });
          expect(Number(refusal.data?.['statusCode'])).toBeLessThan(500);
        },
      ),
      { ...RUNS, numRuns: 60 },
    );
  });

  it('serves requests after the arbitrary input, and has logged no error', async () => {
    expect((await call(server, 'GET', '/v1/push-tokens', { token })).status).toBe(200);
    const live = await connect(server, { token });
    expect(await live.next('hello')).toMatchObject({ seq: expect.any(Number) });
    live.close();
    expect(server.logs()).not.toMatch(/"level":"(?:error|fatal)"/);
  });
});
