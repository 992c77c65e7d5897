import { once } from 'node:events';
import { connect as openSocket } from 'node:net';
import { call, expectErrorShape, logIn, refusalOf } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';

const server = await startServer();
const { token } = await logIn(server);

afterAll(() => server.stop());

async function raw(...chunks: readonly (string | Buffer)[]): Promise<string> {
  const socket = openSocket(server.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  for (const chunk of chunks) {
    socket.write(chunk);
  }
  socket.setTimeout(120_000, () => socket.destroy());
  await closed;
  return answer;
}

function expectRawRefusal(answer: string, status: number): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(body)).toMatchObject({
    statusCode: status,
    code: 'invalid-request',
    error: 'invalid-request',
    message: expect.stringMatching(/./),
    requestId: expect.stringMatching(/./),
  });
}

const post = (body: unknown, headers: Record<string, string> = {}, path = '/v1/push-tokens') =>
  call(server, 'POST', path, { token, body, headers });

describe('the shape of refusals', () => {
  it.each([
    'application/x-www-form-urlencoded',
    'application/secevent+jwt',
    'application/scim+json',
    'multipart/form-data',
  ])('answers 404 to a body of the type %s where there is no route', async (type) => {
    const answer = await post('a=b', { 'content-type': type }, '/v1/oauth/token');
    expect(refusalOf(answer)).toEqual({ status: 404, code: 'not-found' });
  });

  it.each([
    ['GET', '/app/else'],
    ['POST', '/app'],
    ['GET', '/v1'],
    ['GET', '/v2/features'],
    ['PUT', '/v1/push-tokens'],
    ['PATCH', '/v1/auth'],
    ['DELETE', '/v1/push-tokens'],
    ['GET', '/v1/auth/logout'],
    ['TRACE', '/v1/features'],
    ['PROPFIND', '/v1/features'],
    ['GET', '/v1/push-tokens/../../etc/passwd'],
    ['GET', '//v1/features'],
    ['GET', '/v1/features/'],
    ['GET', '/V1/FEATURES'],
  ])('answers 404 to %s %s', async (method, path) => {
    const answer = await call(server, method, path, { token });
    expect({ path, ...refusalOf(answer) }).toEqual({ path, status: 404, code: 'not-found' });
    expectErrorShape(answer);
  });

  it('answers OPTIONS with the permissions of browsers, preflight or not', async () => {
    const { status, headers } = await call(server, 'OPTIONS', '/v1/push-tokens', {});
    expect(status).toBe(204);
    expect(String(headers['access-control-allow-methods'])).toContain('DELETE');
  });

  it.each(['%', '%zz', '%e0%a4%a', '%c0%af', '%ff%fe'])('refuses the path %s', async (encoded) => {
    for (const path of [`/${encoded}`, `/v1/push-tokens/${encoded}`, `/v1/${encoded}/features`]) {
      const answer = await call(server, 'DELETE', path, { token });
      expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
      expect(answer.body['details']).toEqual([{ path: '', message: expect.stringMatching(/./) }]);
      expectErrorShape(answer);
    }
  });

  it.each([
    '{',
    '',
    '}',
    '{"token":"x"',
    '{"token":"x"}}',
    "{'token':'x'}",
    '{"token":undefined}',
    '{"token":"x",}',
    'NaN',
    '[',
    '"',
    '\u0000',
    '{"token":"\u0001"}',
    '{"token":"x","__proto__":{}}',
  ])('refuses the body %j, and says why', async (body) => {
    const answer = await post(body);
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    const [detail] = answer.body['details'] as readonly { message: string }[];
    expect(detail?.message).toMatch(body === '' ? /token/ : /^Send valid JSON/);
    expectErrorShape(answer);
  });

  it.each(['null', '7', '"x"', 'true', '[]', '[{"token":"x"}]'])(
    'refuses JSON that is not an object: %s',
    async (body) => {
      for (const path of ['/v1/push-tokens', '/v1/auth', '/v2/auth/devices']) {
        const answer = await post(body, {}, path);
        expect({ path, ...refusalOf(answer) }).toEqual({
          path,
          status: 400,
          code: 'invalid-request',
        });
        expectErrorShape(answer);
      }
    },
  );

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonx',
    'nonsense',
    '',
    ';',
    'application/json, text/plain',
  ])('refuses the content type %j', async (type) => {
    const answer = await post('{"token":"x"}', { 'content-type': type });
    expect(refusalOf(answer)).toEqual({ status: 415, code: 'unsupported-media-type' });
    expectErrorShape(answer);
  });

  it.each([
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json;charset=UTF-8',
  ])('accepts the content type %s', async (type) => {
    expect((await post('{"token":"x"}', { 'content-type': type })).status).toBe(200);
  });

  it('refuses bytes that are not HTTP', async () => {
    const garbage = [
      'garbage\r\n\r\n',
      '\u0000\u0001\u0002\u0003\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      'GET /v1/features HTTP/1.1\r\nhost x\r\n\r\n',
      'GET /v1/features HTTP/1.1\r\nhost: x\r\nbad\u0000header: 1\r\n\r\n',
      'GET /v1/\u0000 HTTP/1.1\r\nhost: x\r\n\r\n',
      'POST /v1/auth HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n',
      'POST /v1/auth HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}',
      'POST /v1/auth HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
      'CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n',
      'NONSENSE /v1/features HTTP/1.1\r\nhost: x\r\n\r\n',
      Buffer.from('16030100a5010000a10303', 'hex'),
    ];
    for (const bytes of garbage) {
      expectRawRefusal(await raw(bytes, '\r\n\r\n'), 400);
    }
  });

  it('ignores an expectation that it does not know', async () => {
    const head = 'HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\nconnection: close\r\n\r\n';
    expect(await raw(`GET /v1/features ${head}`)).toMatch(/^HTTP\/1.1 200 /);
    expect(await raw(`GET /v1/push-tokens ${head}`)).toMatch(
      /^HTTP\/1.1 401 [^]*"code":"missing-token"/,
    );
  });

  it('refuses headers beyond the limit', async () => {
    const answer = await raw(
      `GET /v1/features HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`,
    );
    expectRawRefusal(answer, 431);
  });

  it('refuses a request without a host', async () => {
    for (const path of ['/v1/features', '/nowhere']) {
      const answer = await raw(`GET ${path} HTTP/1.1\r\nconnection: close\r\n\r\n`);
      expectRawRefusal(answer, 400);
      expect(answer).toContain('Send one Host header.');
    }
    expect(await raw('GET /v1/features HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('x-request-id', () => {
  it.each(['abc', 'A.b-c_9', 'x'.repeat(128)])(
    'accepts and returns the request id %s',
    async (id) => {
      const headers = { 'x-request-id': id };
      const good = await call(server, 'GET', '/v1/features', { headers });
      const bad = await call(server, 'GET', '/nowhere', { headers });
      const health = await call(server, 'GET', '/livez', { headers });
      expect([good, bad, health].map((answer) => answer.headers['x-request-id'])).toEqual([
        id,
        id,
        id,
      ]);
      expect(bad.body['requestId']).toBe(id);
    },
  );

  it.each(['', 'x'.repeat(129), 'a b', 'a"b', '{}', '<script>', 'a;b', 'é'])(
    'replaces the request id %j',
    async (id) => {
      const answer = await call(server, 'GET', '/nowhere', {
        headers: { 'x-request-id': Buffer.from(id).toString('latin1') },
      });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(answer.body['requestId']).toBe(answer.headers['x-request-id']);
    },
  );

  it('replaces a request id that is sent twice', async () => {
    const answer = await raw(
      'GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-request-id: a\r\nx-request-id: b\r\n\r\n',
    );
    expect(answer).toMatch(/x-request-id: [0-9a-f-]{36}\r\n/i);
  });

  it('generates a different request id for each request', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => call(server, 'GET', '/livez')));
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(3);
  });
});

describe('the process after the refusals', () => {
  it('is still ready, and has logged no token', async () => {
    expect((await call(server, 'GET', '/readyz')).status).toBe(200);
    expect(server.logs()).not.toContain(token);
    expect(server.logs()).not.toMatch(/unhandled|uncaught/i);
  });
});
