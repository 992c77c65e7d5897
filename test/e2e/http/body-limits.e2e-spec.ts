import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect as openSocket } from 'node:net';
import { call, expectErrorShape, logIn, refusalOf, type Answer } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { CLIENT } from '../../fakes/openid-provider.js';
import { AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';

const SMALL = 32_768;
const LARGE = 1_048_576;
const WEBHOOK = 262_144;
const WEBHOOK_SECRET = 'a-webhook-secret-of-the-spec';
const JSON_TYPE = 'content-type: application/json\r\n';

/** A JSON object of exactly this size. */
const sized = (bytes: number, field = 'padding'): string =>
  `{"${field}":"${'x'.repeat(bytes - field.length - 7)}"}`;
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const TOO_LARGE = { status: 413, code: 'payload-too-large' };

const tokens = await AdminTokensFile.create();
const server = await startServer({
  env: {
    ...tokens.env,
    GITHUB_CLIENT_ID: CLIENT.id,
    GITHUB_CLIENT_SECRET: CLIENT.secret,
    AUTH_GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET,
    AUTH_GITHUB_ALLOWED_ORGS: 'acme',
    AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE: 'oauth_user_token',
    SERVICE_UPDATES_TRANSPORTS: 'websocket,polling',
    AUTH_OFFBOARDING_INTERVAL_SECONDS: '3600',
    SERVICE_PUBLIC_URL: 'http://127.0.0.1:1',
    SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  },
});
const adminUrl = await adminUrlOf(server);
let { token } = await logIn(server);
afterAll(() => server.stop());

/** Returns the answer to these bytes alone, while the client keeps the connection open. */
async function answerTo(bytes: string, url = server.url): Promise<string> {
  const socket = openSocket(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  socket.write(bytes);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
}

const chunked = (path: string, text: string, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\n${JSON_TYPE}${more}transfer-encoding: chunked\r\n\r\n` +
  `${text.length.toString(16)}\r\n${text}\r\n`;

function webhook(body: string, secret = WEBHOOK_SECRET): Promise<Answer> {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const headers = { 'x-github-event': 'ping', 'x-hub-signature-256': signature };
  return call(server, 'POST', '/v1/auth/providers/github/webhook', {
    body,
    headers: { ...headers, 'content-type': 'application/json' },
  });
}

describe('the limit of a body', () => {
  it.each([
    ['POST', '/v1/auth/challenge'],
    ['POST', '/v1/auth/logout'],
    ['POST', '/v1/push-tokens'],
    ['PATCH', '/v1/account/encryption'],
  ])('limits bodies of %s %s to 32 KiB for every caller', async (method, path) => {
    for (const caller of [{}, { token: 'a.b.c' }]) {
      const ask = (body: string) => call(server, method, path, { ...caller, body });
      expect((await ask(sized(SMALL))).status).not.toBe(413);
      const refused = await ask(sized(SMALL + 1));
      expect(refusalOf(refused)).toEqual(TOO_LARGE);
      expectErrorShape(refused);
    }
  });

  it('bounds bodies that come in chunks without a length', async () => {
    const path = '/v1/auth/challenge';
    expect(await answerTo(chunked(path, sized(SMALL + 1)))).toMatch(/^HTTP\/1.1 413 /);
    const bearer = `authorization: Bearer ${token}\r\n`;
    const settings = chunked('/v2/account/settings', sized(LARGE + 1), bearer);
    expect(await answerTo(settings)).toMatch(/^HTTP\/1.1 413 /);
  });

  it.each([
    ['/v1/auth/challenge', LARGE, 413],
    ['/v2/account/settings', LARGE + 1, 401],
  ])(
    'reads the rest of a body that %s refuses, so that its sender gets the answer',
    async (path, bytes, status) => {
      const socket = openSocket({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
      const answer = once(socket, 'data');
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\n${JSON_TYPE}content-length: ${bytes}\r\n\r\n`,
      );
      const head = String(await answer);
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(head).toMatch(/\r\nconnection: close\r\n/i);
      const closed = once(socket, 'close');
      socket.end('x'.repeat(bytes));
      // With an error in its place, this rejects.
      expect(await closed).toEqual([false]);
    },
  );

  it.each([
    ['POST', '/v1/account/settings'],
    ['POST', '/v2/account/settings'],
    ['PUT', '/v1/account/credentials/github'],
    ['POST', '/v1/account/encryption/migrate'],
  ])('limits bodies of %s %s to SERVICE_BODY_LIMIT_BYTES', async (method, path) => {
    const ask = (body: string) => call(server, method, path, { token, body });
    expect(refusalOf(await ask(sized(LARGE)))).toEqual({ status: 400, code: 'invalid-request' });
    expect(refusalOf(await ask(sized(LARGE + 1)))).toEqual(TOO_LARGE);
  });

  it.each([
    ['POST', '/v1/account/settings'],
    ['POST', '/v2/account/settings'],
    ['PUT', '/v1/account/credentials/github'],
    ['POST', '/v1/account/encryption/migrate'],
  ])('refuses strangers at %s %s before their body is read', async (method, path) => {
    for (const header of ['', 'authorization: Bearer a.b.c\r\n']) {
      const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\n${JSON_TYPE}${header}`;
      // No byte of the body is sent.
      const answers = [
        await answerTo(`${head}content-length: 1000000\r\n\r\n`),
        await answerTo(`${head}transfer-encoding: chunked\r\n\r\n`),
      ];
      for (const answer of answers) {
        expect(answer).toMatch(/^HTTP\/1.1 401 /);
        expect(answer).toMatch(/"code":"(?:missing|invalid)-token"/);
      }
      expect(answers[1]).toMatch(/\r\nconnection: close\r\n/i);
    }
    const whole = await call(server, method, path, { body: sized(LARGE) });
    expect(refusalOf(whole)).toEqual({ status: 401, code: 'missing-token' });
  });

  it('limits bodies of provider webhooks to 256 KiB', async () => {
    expect((await webhook(sized(WEBHOOK))).status).toBe(200);
    expect(refusalOf(await webhook(sized(WEBHOOK + 1)))).toEqual(TOO_LARGE);
  });

  it('limits bodies of the administration to 32 KiB', async () => {
    const ask = (body: string) =>
      call({ url: adminUrl }, 'POST', '/admin/v1/policy/plan', { token: tokens.operator, body });
    expect((await ask(sized(SMALL))).status).toBe(400);
    expect(refusalOf(await ask(sized(SMALL + 1)))).toEqual(TOO_LARGE);
    expect(await answerTo(chunked('/admin/v1/policy/plan', sized(SMALL + 1)), adminUrl)).toMatch(
      /^HTTP\/1.1 413 /,
    );
  });
});

describe('the depth of JSON', () => {
  const TOO_DEEP = 'The JSON must not nest deeper than 64 levels.';

  it.each(['/v1/auth/challenge', '/v1/auth/logout', '/v2/account/settings'])(
    'is 64 at %s',
    async (path) => {
      const ask = (depth: number) => call(server, 'POST', path, { token, body: nested(depth) });
      expect(JSON.stringify((await ask(65)).body)).toContain(TOO_DEEP);
      expect(refusalOf(await ask(65))).toEqual({ status: 400, code: 'invalid-request' });
      ({ token } = await logIn(server));
      expect(JSON.stringify((await ask(64)).body)).not.toContain(TOO_DEEP);
      ({ token } = await logIn(server));
    },
  );

  it('counts no brackets in texts', async () => {
    const body = { settings: `"\\"${'[{'.repeat(500)}`, expectedVersion: 0 };
    const written = await call(server, 'POST', '/v1/account/settings', { token, body });
    expect(written).toMatchObject({ status: 200, body: { success: true } });
    const { body: read } = await call(server, 'GET', '/v1/account/settings', { token });
    expect(read['settings']).toBe(body.settings);
  });

  it('is 64 at the administration and in a webhook whose signature is valid', async () => {
    const plan = await call({ url: adminUrl }, 'POST', '/admin/v1/policy/plan', {
      token: tokens.operator,
      body: nested(65),
    });
    expect(JSON.stringify(plan.body)).toContain(TOO_DEEP);
    expect(refusalOf(await webhook(nested(65)))).toEqual({ status: 400, code: 'invalid-request' });
    const forged = await webhook(nested(65), 'another secret of sixteen bytes');
    expect(refusalOf(forged)).toEqual({ status: 401, code: 'invalid-signature' });
  });
});

describe('two Host headers', () => {
  it.each(['/livez', '/v1/features', '/v1/updates/?EIO=4&transport=polling', '/not-there'])(
    'refuses two Host headers at %s',
    async (path) => {
      const head = `GET ${path} HTTP/1.1\r\nhost: a.example\r\n`;
      for (const second of ['Host: b.example\r\n', 'HOST: a.example\r\n']) {
        const answer = await answerTo(`${head}${second}\r\n`);
        expect(answer).toMatch(/^HTTP\/1.1 400 /);
        expect(answer).toContain('"invalid-request"');
      }
      expect(await answerTo(`${head}\r\n`)).not.toMatch(/^HTTP\/1.1 400 /);
    },
  );

  it('refuses them at an upgrade and at the administration API', async () => {
    const hosts = 'host: a.example\r\nhost: b.example\r\n';
    const upgrade =
      `GET /v1/updates/?EIO=4&transport=websocket HTTP/1.1\r\n${hosts}connection: Upgrade\r\n` +
      'upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
    expect(await answerTo(upgrade)).toMatch(/^HTTP\/1.1 400 /);
    const admin = `GET /admin/v1/me HTTP/1.1\r\n${hosts}\r\n`;
    expect(await answerTo(admin, adminUrl)).toMatch(/^HTTP\/1.1 400 /);
  });
});

it('asks browsers for HTTPS on its own host alone, not on other subdomains', async () => {
  const { headers } = await call(server, 'GET', '/v1/account/profile');
  expect(headers['strict-transport-security']).toMatch(/^max-age=\d+$/);
});
