import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createHmac, createPublicKey } from 'node:crypto';
import { UnsecuredJWT, decodeJwt, type JSONWebKeySet } from 'jose';
import { createCliUser, type CliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { backends, backendToken, resourceOf } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

const FOLDER = fileURLToPath(new URL('../../../docs/samples/backend-python/', import.meta.url));
const PACKAGES = 'python3-jwt python3-cryptography';

/** The packages of the system belong to its own Python, which another one may precede. */
function findPython(): string {
  const found = ['python3', '/usr/bin/python3'].find(
    (path) => spawnSync(path, ['-c', 'import jwt, cryptography']).status === 0,
  );
  if (found === undefined) {
    throw new Error(`These tests need Python with packages: apt-get install ${PACKAGES}`);
  }
  return found;
}

async function startBackend(...args: string[]): Promise<ChildProcess> {
  const started = spawn(findPython(), ['backend.py', ...args], {
    cwd: FOLDER,
    env: { RELAY_SECRET: setup.secretOf('relay'), PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(started.stdout as NodeJS.ReadableStream, 'data');
  return started;
}

const ask = (token: string, at = url) => call({ url: at }, 'GET', '/', { token });

const setup = backends([{ id: 'relay' }, { id: 'files' }]);

const [gate, port] = [await freePort(), await freePort()];
const issuer = `http://127.0.0.1:${gate}`;
let server = await startServer({
  env: { ...setup.env, PORT: String(gate), SERVICE_PUBLIC_URL: issuer },
});
const url = `http://127.0.0.1:${port}`;
const backend = await startBackend(issuer, resourceOf('relay'), 'relay', String(port));
await waitFor('the backend has its lease', async () => (await ask('x')).status === 401);
afterAll(async () => {
  backend.kill('SIGKILL');
  await server.stop();
  setup.remove();
});

describe('docs/samples/backend-python', () => {
  /** Opens the response that ends with the session. */
  async function openEvents(token: string, at = url) {
    const headers = { authorization: `Bearer ${token}` };
    const [answer] = (await once(get(`${at}/events`, { headers }), 'response')) as [
      IncomingMessage,
    ];
    const events = { status: answer.statusCode, text: '', isOver: false };
    answer.setEncoding('utf8').on('data', (chunk: string) => (events.text += chunk));
    answer.once('close', () => (events.isOver = true));
    await waitFor('the first event', () => events.text !== '');
    return events;
  }

  it('is started as its README shows', () => {
    expect(readFileSync(`${FOLDER}README.md`, 'utf8')).toContain(
      'python3 backend.py https://gate.example.com https://relay.example.com relay 8080',
    );
  });

  it('admits a token, and refuses it after the session has ended', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const [token, other] = await Promise.all([
      backendToken(server, session, 'relay'),
      backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay'),
    ]);
    expect(await ask(token)).toMatchObject({
      status: 200,
      body: { account: decodeJwt(token).sub },
    });
    const [leaver, colleague] = await Promise.all([openEvents(token), openEvents(other)]);
    await call(server, 'POST', '/v1/auth/logout', { token: session });
    await waitFor('the open response ends', () => leaver.isOver);
    expect(leaver.text).toContain('event: ended');
    expect((await ask(token)).status).toBe(401);
    expect([(await ask(other)).status, colleague.isOver]).toEqual([200, false]);
  });

  it('refuses tokens of another kind, backend, algorithm or signature', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const token = await backendToken(server, session, 'relay');
    const [head = '', payload = '', signature = ''] = token.split('.');
    const { keys } = (await call<JSONWebKeySet>(server, 'GET', '/v1/oauth/jwks')).body;
    const header = (fields: object): string =>
      Buffer.from(JSON.stringify({ typ: 'at+jwt', ...fields })).toString('base64url');
    const forged = keys.flatMap((jwk) => {
      const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({
        type: 'spki',
        format: 'pem',
      });
      return ['HS256', 'ES256', 'RS256', 'none'].map((alg) => {
        const start = `${header({ alg, kid: jwk.kid })}.${payload}`;
        return `${start}.${createHmac('sha256', pem).update(start).digest('base64url')}`;
      });
    });
    const refused = [
      ...forged,
      session,
      await backendToken(server, session, 'files'),
      new UnsecuredJWT(decodeJwt(token)).encode(),
      `${head}.${payload}.`,
      `${head}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${header({ alg: 'ES256', kid: ['x'] })}.${payload}.${signature}`,
      `${Buffer.from('['.repeat(9000)).toString('base64url')}.${payload}.${signature}`,
      'x',
    ];
    for (const text of refused) {
      expect([text, (await ask(text)).status]).toEqual([text, 401]);
    }
    expect((await call({ url }, 'GET', '/')).status).toBe(401);
    expect((await ask(token)).status).toBe(200);
  });

  it('follows the stream again after Gatehouse was away', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const token = await backendToken(server, session, 'relay');
    expect((await ask(token)).status).toBe(200);
    server = await server.restart();
    await call(server, 'POST', '/v1/auth/logout', { token: session });
    await waitFor('the token is refused', async () => (await ask(token)).status === 401);
    const other = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
    await waitFor('others are admitted', async () => (await ask(other)).status === 200);
  });

  describe('with gatehouse guard', () => {
    let user: CliUser;
    let guard: ChildProcess;
    let guardPort: string;
    let sidecarBackend: ChildProcess;
    let at: string;

    beforeAll(async () => {
      user = await createCliUser();
      const ports = [await freePort(), await freePort()].map(String);
      guardPort = ports[0] ?? '';
      at = `http://127.0.0.1:${ports[1]}`;
      guard = startGuard();
      sidecarBackend = await startBackend(`http://127.0.0.1:${guardPort}`, ports[1] ?? '');
      await waitFor('the guard has its lease', async () => (await ask('x', at)).status === 401);
    });
    afterAll(async () => {
      sidecarBackend.kill('SIGKILL');
      guard.kill('SIGKILL');
      await user.remove();
    });

    function startGuard(): ChildProcess {
      const entry = ['--issuer', issuer, '--resource', resourceOf('relay'), '--client-id', 'relay'];
      const secret = ['--client-secret-file', setup.secretFileOf('relay')];
      return user.start(['guard', ...entry, ...secret, '--port', guardPort], {}).child;
    }

    it('admits a token, and refuses it after the session has ended', async () => {
      const session = await tokenOf(server, makeDeviceKey());
      const token = await backendToken(server, session, 'relay');
      const other = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
      expect(await ask(token, at)).toMatchObject({
        ...{ status: 200, body: { account: decodeJwt(token).sub } },
      });
      const [leaver, colleague] = await Promise.all([openEvents(token, at), openEvents(other, at)]);
      await call(server, 'POST', '/v1/auth/logout', { token: session });
      await waitFor('the open response ends', () => leaver.isOver);
      expect([(await ask(token, at)).status, (await ask(other, at)).status]).toEqual([401, 200]);
      expect(colleague.isOver).toBe(false);
      const files = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'files');
      for (const text of [session, files, new UnsecuredJWT(decodeJwt(other)).encode(), 'x']) {
        expect([text, (await ask(text, at)).status]).toEqual([text, 401]);
      }
    });

    it('ends open responses and refuses all while the guard is away, and recovers', async () => {
      const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
      const events = await openEvents(token, at);
      guard.kill('SIGKILL');
      await waitFor('the open response ends', () => events.isOver);
      expect((await ask(token, at)).status).toBe(503);
      guard = startGuard();
      await waitFor('it is admitted', async () => (await ask(token, at)).status === 200);
    });
  });
});
