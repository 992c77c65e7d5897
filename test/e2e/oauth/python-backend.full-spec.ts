import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createHmac, createPublicKey } from 'node:crypto';
import { UnsecuredJWT, decodeJwt, type JSONWebKeySet } from 'jose';
import { createCliUser, type CliUser } from '../../fixtures/programs/cli-fixture.js';
import { PYTHON_BACKEND, PythonBackend } from '../../fixtures/programs/python-backend-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { backends, backendToken, resourceOf } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

/** Its characters have a meaning in a form, as which a client encodes its secret (RFC 6749, 2.3.1). */
const SECRET = '100% of a secret + another &=:/?';

const setup = backends([{ id: 'relay' }, { id: 'files' }]);

setup.setSecrets('relay', SECRET);

const issuer = `http://127.0.0.1:${await freePort()}`;
let server = await startServer({
  env: { ...setup.env, PORT: new URL(issuer).port, SERVICE_PUBLIC_URL: issuer },
});
const backend = await PythonBackend.start([issuer, resourceOf('relay'), 'relay'], SECRET);
await backend.ready();
afterAll(async () => {
  backend.stop();
  await server.stop();
});

describe('docs/samples/backend-python', () => {
  it('is started as its README shows', () => {
    expect(readFileSync(`${PYTHON_BACKEND}README.md`, 'utf8')).toContain(
      'python3 backend.py https://gate.example.com https://relay.example.com relay 8080',
    );
  });

  it('admits a token, and refuses it after the session has ended', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const [token, other] = await Promise.all([
      backendToken(server, session, 'relay'),
      backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay'),
    ]);
    expect(await backend.ask(token)).toMatchObject({
      status: 200,
      body: { account: decodeJwt(token).sub },
    });
    const [leaver, colleague] = await Promise.all([
      backend.openEvents(token),
      backend.openEvents(other),
    ]);
    await call(server, 'POST', '/v1/auth/logout', { token: session });
    await waitFor('the open response ends', () => leaver.isOver);
    expect(leaver.text).toContain('event: ended');
    expect(await backend.statusOf(token)).toBe(401);
    expect([await backend.statusOf(other), colleague.isOver]).toEqual([200, false]);
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
      expect([text, await backend.statusOf(text)]).toEqual([text, 401]);
    }
    expect((await backend.ask()).status).toBe(401);
    expect(await backend.statusOf(token)).toBe(200);
  });

  it('follows the stream again after Gatehouse was away', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const token = await backendToken(server, session, 'relay');
    expect(await backend.statusOf(token)).toBe(200);
    server = await server.restart();
    await call(server, 'POST', '/v1/auth/logout', { token: session });
    await waitFor('the token is refused', async () => (await backend.statusOf(token)) === 401);
    const other = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
    await waitFor('others are admitted', async () => (await backend.statusOf(other)) === 200);
  });

  describe('with gatehouse guard', () => {
    let user: CliUser;
    let guard: ChildProcess;
    let guardPort: string;
    let sidecar: PythonBackend;

    beforeAll(async () => {
      user = await createCliUser();
      guardPort = String(await freePort());
      guard = startGuard();
      sidecar = await PythonBackend.start([`http://127.0.0.1:${guardPort}`], SECRET);
      await sidecar.ready();
    });
    afterAll(async () => {
      sidecar.stop();
      guard.kill('SIGKILL');
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
      expect(await sidecar.ask(token)).toMatchObject({
        ...{ status: 200, body: { account: decodeJwt(token).sub } },
      });
      const [leaver, colleague] = await Promise.all([
        sidecar.openEvents(token),
        sidecar.openEvents(other),
      ]);
      await call(server, 'POST', '/v1/auth/logout', { token: session });
      await waitFor('the open response ends', () => leaver.isOver);
      expect([await sidecar.statusOf(token), await sidecar.statusOf(other)]).toEqual([401, 200]);
      expect(colleague.isOver).toBe(false);
      const files = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'files');
      for (const text of [session, files, new UnsecuredJWT(decodeJwt(other)).encode(), 'x']) {
        expect([text, await sidecar.statusOf(text)]).toEqual([text, 401]);
      }
    });

    it('ends open responses and refuses all while the guard is away, and recovers', async () => {
      const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
      const events = await sidecar.openEvents(token);
      guard.kill('SIGKILL');
      await waitFor('the open response ends', () => events.isOver);
      expect(await sidecar.statusOf(token)).toBe(503);
      guard = startGuard();
      await waitFor('it is admitted', async () => (await sidecar.statusOf(token)) === 200);
    });
  });
});
