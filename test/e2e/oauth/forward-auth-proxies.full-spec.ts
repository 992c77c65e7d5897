import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { request } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { WebSocket } from 'ws';
import { spellingsOf } from '../../fixtures/certificate-login-fixture.js';
import {
  startEchoBackend,
  type EchoBackend,
  type Received,
} from '../../fixtures/programs/echo-backend-fixture.js';
import {
  authority,
  HOST,
  startForwardAuth,
  type RunningProxy,
} from '../../fixtures/programs/forward-auth-fixture.js';
import {
  PROXY_PROGRAMS,
  runsProxy,
  SHIPPED_PROXIES,
} from '../../fixtures/programs/proxy-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { backends, backendToken } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey } from '../../helpers/client.js';
import type { RawHttpAnswer, RawHttpRequest } from '../../helpers/raw-http.js';
import { waitFor } from '../../helpers/wait.js';

const run = promisify(execFile);
const PAGE = readFileSync(join(SHIPPED_PROXIES, '../../docs/protect-a-backend.md'), 'utf8');
const IDENTITY = ['x-gatehouse-account', 'x-gatehouse-session', 'x-gatehouse-login'];
const STRANGER = '00000000-0000-4000-8000-000000000000';

for (const name of ['nginx', 'haproxy', 'caddy'] as const) {
  (runsProxy(PROXY_PROGRAMS[name]) ? describe : describe.skip)(
    `docker/proxies/forward-auth for ${name}`,
    () => {
      const setup = backends([{ id: 'relay', claims: ['login'] }, { id: 'files' }]);
      let server: Server;
      let backend: EchoBackend;
      let proxy: RunningProxy;
      let port: number;
      let session: string;
      let token: string;

      beforeAll(async () => {
        server = await startServer({
          env: { ...setup.env, SERVICE_TRUSTED_PROXIES: '127.0.0.1' },
        });
        backend = await startEchoBackend();
        proxy = await startForwardAuth(name, { gatehouse: server.port, backend: backend.port });
        port = proxy.port;
        session = await tokenOf(server, makeDeviceKey());
        token = await backendToken(server, session, 'relay');
      });
      afterAll(async () => {
        await proxy.service.stop();
        await backend.stop();
        await server.stop();
      });

      const logs = (): string => {
        const file = join(proxy.home, 'access.log');
        return proxy.service.output() + (existsSync(file) ? readFileSync(file, 'utf8') : '');
      };

      const send = (request: Partial<RawHttpRequest>): Promise<RawHttpAnswer> =>
        proxy.send(request);
      const bearer = (text = token): string => `Authorization: Bearer ${text}`;

      async function refused(request: Partial<RawHttpRequest>): Promise<RawHttpAnswer> {
        const count = backend.received.length;
        const answer = await send(request);
        expect([request, backend.received.length]).toEqual([request, count]);
        return answer;
      }

      async function passed(request: Partial<RawHttpRequest>): Promise<Received> {
        const { status, body, text } = await send(request);
        expect([request, status, status === 200 ? '' : text]).toEqual([request, 200, '']);
        return body as unknown as Received;
      }

      /** The headers that a backend could take for those of Gatehouse, also through CGI. */
      const identityIn = ({ headers }: Received): Record<string, string[]> => {
        const found: Record<string, string[]> = {};
        for (const [header, value] of headers) {
          const known = header.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
          if (IDENTITY.includes(known)) {
            found[known] = [...(found[known] ?? []), value];
          }
        }
        return found;
      };
      const expectIdentity = (received: Received): void => {
        const { sub, sid } = decodeJwt(token);
        const { 'x-gatehouse-login': [login = ''] = [], ...rest } = identityIn(received);
        expect({ login, ...rest }).toEqual({
          login: '',
          'x-gatehouse-account': [sub],
          'x-gatehouse-session': [sid],
        });
      };

      const openSocket = async (protocols: readonly string[], headers = {}) => {
        const options = {
          servername: HOST,
          ca: authority.cert,
          headers: { host: `${HOST}:${port}`, ...headers },
        };
        const address = `wss://127.0.0.1:${port}/channel?x=1`;
        const socket = new WebSocket(address, [...protocols], options);
        const first = once(socket, 'message') as Promise<[Buffer]>;
        first.catch(() => undefined);
        const outcome = await Promise.race([
          once(socket, 'open').then(() => 'open' as const),
          once(socket, 'unexpected-response').then(([, answer]) => {
            const { statusCode } = answer as { statusCode: number };
            socket.on('error', () => undefined).terminate();
            return statusCode;
          }),
        ]);
        return { socket, outcome, first };
      };

      it('passes on a request with the identity of its token', async () => {
        const received = await passed({ target: '/channels?q=1', headers: [bearer()] });
        expect(received).toMatchObject({ method: 'GET', url: '/channels?q=1' });
        expectIdentity(received);
      });

      it('answers the commands of docs/protect-a-backend.md as the page says', async () => {
        const [, commands = ''] = /^### Try it$.*?^```sh\n(curl .*?)^```$/ms.exec(PAGE) ?? [];
        const settings = [
          `resolve = "${HOST}:${port}:127.0.0.1"`,
          `cacert = "${authority.certPath}"`,
        ];
        writeFileSync(join(proxy.home, '.curlrc'), `${settings.join('\n')}\n`);
        const script = commands.replaceAll(`https://${HOST}/`, `https://${HOST}:${port}/`);
        const { stdout } = await run('/bin/sh', ['-euc', script], {
          env: { PATH: process.env['PATH'], HOME: proxy.home, ACCESS_TOKEN: token },
        });
        expect(stdout).toBe('200\n401\n');
      });

      it('passes on the body, which Gatehouse never receives', async () => {
        const text = 'x'.repeat(200_000);
        const sized = [`Content-Length: ${text.length}`, 'Content-Type: application/json'];
        const received = await passed({ method: 'PUT', headers: [bearer(), ...sized], body: text });
        expect(received.body).toBe(text);
        expectIdentity(received);
        const chunks = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
        const chunked = [bearer(), 'Transfer-Encoding: chunked'];
        expect((await passed({ method: 'POST', headers: chunked, body: chunks })).body).toBe(text);
      });

      it('refuses a request without a token, with its challenge', async () => {
        for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE']) {
          const { status, headers } = await refused({ method });
          expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer']);
        }
      });

      it('refuses the token of a session, of another backend and a forged one', async () => {
        const files = await backendToken(server, session, 'files');
        const forged = `${token.slice(0, -6)}AAAAAA`;
        for (const text of [session, files, forged, 'x', `${token} ${token}`]) {
          expect((await refused({ headers: [bearer(text)] })).status).toBe(401);
        }
        const targets = [
          ...[
            '/../files',
            '/%2e%2e/files',
            '/..%2ffiles',
            '/..%5cfiles',
            '//files',
            '/./../files/x',
          ],
          ...['/?id=files', '/?/../files', '/#/../files', '/v1/oauth/forward-auth/files'],
          ...['/forward-auth', '/forward-auth?x', `https://${HOST}/v1/oauth/forward-auth/files`],
        ];
        for (const target of targets) {
          const { status } = await refused({ target, headers: [bearer(files)] });
          expect([target, status >= 400 && status < 500]).toEqual([target, true]);
        }
      });

      it('reads no token in the query or in a cookie', async () => {
        const target = `/?access_token=${token}&authorization=Bearer%20${token}`;
        const { status } = await refused({ target, headers: [`Cookie: access_token=${token}`] });
        expect(status).toBe(401);
      });

      it('keeps the identity of the token on every path', async () => {
        for (const target of ['/a/../b', '/%2e%2e/b', '/a%2f..%2fb', '//x', '/forward-auth?x']) {
          const { status, body } = await send({ target, headers: [bearer()] });
          if (status === 200) {
            expectIdentity(body as unknown as Received);
          }
          expect([target, [200, 400, 404].includes(status)]).toEqual([target, true]);
        }
      });

      it('removes the identity that a client sends, in every spelling', async () => {
        for (const header of IDENTITY) {
          for (const spelling of spellingsOf(header)) {
            const own = [`${spelling}: ${STRANGER}`, `${spelling}: ${STRANGER}`];
            const answer = await send({ headers: [...own, bearer(), ...own] });
            if (answer.status === 200) {
              expectIdentity(answer.body as unknown as Received);
            }
            expect([spelling, [200, 400].includes(answer.status)]).toEqual([spelling, true]);
            expect((await refused({ headers: own })).status).toBeGreaterThanOrEqual(400);
          }
        }
      });

      it('keeps the identity that a client declares as hop-by-hop', async () => {
        for (const header of [...IDENTITY, 'x-gatehouse-account, x-gatehouse-session']) {
          expectIdentity(await passed({ headers: [bearer(), `Connection: ${header}`] }));
        }
        const { status } = await refused({ headers: [`Connection: authorization`] });
        expect(status).toBe(401);
      });

      it('refuses two credentials', async () => {
        const protocol = `Sec-WebSocket-Protocol: app, bearer.${token}`;
        const twice = `Sec-WebSocket-Protocol: bearer.${token}, bearer.${token}`;
        for (const headers of [[bearer(), protocol], [twice], [protocol, protocol]]) {
          expect((await refused({ headers })).status).toBe(400);
        }
        const other = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
        for (const headers of [
          [bearer(), bearer(other)],
          [bearer(other), bearer('x')],
          [bearer('x'), bearer()],
        ]) {
          const { status } = await refused({ headers });
          expect([400, 401]).toContain(status);
        }
      });

      it('passes on a preflight without a token and without an identity', async () => {
        const asks = ['Origin: https://app.example.org', 'Access-Control-Request-Method: PUT'];
        for (const own of [[], IDENTITY.flatMap((one) => spellingsOf(one).map((s) => `${s}: x`))]) {
          const answer = await send({ method: 'OPTIONS', headers: [...asks, ...own] });
          expect([200, 400]).toContain(answer.status);
          expect(
            answer.status === 200 ? identityIn(answer.body as unknown as Received) : {},
          ).toEqual({});
        }
        expect((await passed({ method: 'OPTIONS', headers: asks })).method).toBe('OPTIONS');
        for (const method of ['GET', 'POST', 'options', 'OPTIONSX']) {
          const { status } = await refused({ method, headers: asks });
          expect([method, status >= 400]).toEqual([method, true]);
        }
      });

      it('opens a WebSocket with the token in a subprotocol or a header', async () => {
        for (const [protocols, headers] of [
          [['app', `bearer.${token}`], {}],
          [['app'], { authorization: `Bearer ${token}`, 'x-gatehouse-account': STRANGER }],
        ] as const) {
          const { socket, outcome, first } = await openSocket(protocols, headers);
          expect([outcome, socket.protocol]).toEqual(['open', 'app']);
          const received = JSON.parse(String((await first)[0])) as Received;
          expect(received.url).toBe('/channel?x=1');
          expectIdentity(received);
          socket.terminate();
        }
      });

      /** The status for a request that asks for another protocol. */
      const upgradeStatus = async (
        upgrades: readonly string[],
        own: readonly string[],
        method = 'GET',
      ): Promise<number> => {
        const sent = request({
          host: '127.0.0.1',
          port,
          servername: HOST,
          ca: authority.cert,
          method,
          headers: [
            ...['Host', `${HOST}:${port}`, 'Connection', 'upgrade, http2-settings'],
            ...['HTTP2-Settings', 'AAMAAABkAARAAAAAAAIAAAAA'],
            ...upgrades.flatMap((upgrade) => ['Upgrade', upgrade]),
            ...own,
          ],
        }).end();
        const [{ statusCode }] = (await Promise.race([
          once(sent, 'response'),
          once(sent, 'upgrade'),
        ])) as [{ readonly statusCode: number }];
        sent.destroy();
        return statusCode;
      };

      it('upgrades to no protocol but WebSocket: it could carry requests with an identity of their own', async () => {
        const upgrades = ['h2c', 'H2C', 'TLS/1.0', 'websocket, h2c', 'h2c, websocket'];
        for (const one of [
          ...upgrades.map((name) => [name]),
          ['h2c', 'websocket'],
          ['websocket', 'h2c'],
        ]) {
          const status = await upgradeStatus(one, ['Authorization', `Bearer ${token}`]);
          expect([one, status]).not.toEqual([one, 101]);
        }
        const preflight = ['Access-Control-Request-Method', 'PUT'];
        for (const one of ['h2c', 'websocket']) {
          const status = await upgradeStatus([one], preflight, 'OPTIONS');
          expect([one, status]).not.toEqual([one, 101]);
        }
      });

      it('refuses a WebSocket without a token of this backend', async () => {
        const files = await backendToken(server, session, 'files');
        for (const protocols of [
          ['app'],
          ['app', `bearer.${files}`],
          ['app', `bearer.${session}`],
        ]) {
          const count = backend.received.length;
          expect((await openSocket(protocols)).outcome).toBe(401);
          expect(backend.received).toHaveLength(count);
        }
      });

      it('refuses requests of an ended session, and leaves its open socket open', async () => {
        const leaving = await tokenOf(server, makeDeviceKey());
        const theirs = await backendToken(server, leaving, 'relay');
        const { socket, outcome, first } = await openSocket(['app', `bearer.${theirs}`]);
        expect(outcome).toBe('open');
        await first;
        await call(server, 'POST', '/v1/auth/logout', { token: leaving });
        expect((await refused({ headers: [bearer(theirs)] })).status).toBe(401);
        expect((await openSocket(['app', `bearer.${theirs}`])).outcome).toBe(401);
        const echoed = once(socket, 'message') as Promise<[Buffer]>;
        socket.send('still here');
        expect(String((await echoed)[0])).toBe('still here');
        socket.terminate();
      });

      it('answers 503 while Gatehouse is away, passes again after, and logs no token', async () => {
        const secret = [token, session].map((text) => text.split('.')[2] ?? '');
        await server.kill('SIGKILL');
        const away = await refused({ target: '/away', headers: [bearer()] });
        expect([away.status, Number(away.headers['retry-after']) > 0]).toEqual([503, true]);
        expect((await openSocket(['app', `bearer.${token}`])).outcome).toBe(503);
        server = await server.restart();
        await waitFor('the proxy passes on', async () => {
          const { status } = await send({ headers: [bearer()] });
          return status === 200;
        });
        await passed({ target: '/last', headers: [bearer()] });
        await waitFor('the log has the last request', () => logs().includes('/last'));
        for (const part of secret) {
          expect(logs()).not.toContain(part);
        }
      });
    },
  );
}
