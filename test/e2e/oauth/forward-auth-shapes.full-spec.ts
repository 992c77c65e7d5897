import {
  startEchoBackend,
  type EchoBackend,
  type Received,
} from '../../fixtures/programs/echo-backend-fixture.js';
import {
  HOST,
  startForwardAuth,
  type RunningProxy,
} from '../../fixtures/programs/forward-auth-fixture.js';
import { PROXY_PROGRAMS, runsProxy } from '../../fixtures/programs/proxy-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { spellingsOf } from '../../fixtures/certificate-login-fixture.js';
import { backends, backendToken } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { makeDeviceKey } from '../../helpers/client.js';
import type { RawHttpRequest } from '../../helpers/raw-http.js';

/** Headers by which a backend behind a proxy may learn who asks for which address. */
const CLAIMED = {
  forwarded: 'for=192.0.2.9;host=other.example.org;proto=http',
  'x-forwarded-for': '192.0.2.9',
  'x-forwarded-host': 'other.example.org',
  'x-forwarded-port': '54321',
  'x-forwarded-prefix': '/other',
  'x-forwarded-proto': 'other',
  'x-forwarded-server': 'other.example.org',
  'x-real-ip': '192.0.2.9',
};

/** The name as programs read it that take any other character for a hyphen, as through CGI. */
const spelledAlike = (header: string): string => header.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');

for (const name of ['nginx', 'haproxy', 'caddy'] as const) {
  const title = `docker/proxies/forward-auth for ${name}, requests of unusual shapes`;
  (runsProxy(PROXY_PROGRAMS[name]) ? describe : describe.skip)(title, () => {
    const { env } = backends([{ id: 'relay' }]);
    let server: Server;
    let backend: EchoBackend;
    let proxy: RunningProxy;
    let bearer: string;

    beforeAll(async () => {
      server = await startServer({ env: { ...env, SERVICE_TRUSTED_PROXIES: '127.0.0.1' } });
      backend = await startEchoBackend();
      proxy = await startForwardAuth(name, { gatehouse: server.port, backend: backend.port });
      const session = await tokenOf(server, makeDeviceKey());
      bearer = `Authorization: Bearer ${await backendToken(server, session, 'relay')}`;
    });
    afterAll(async () => {
      await proxy.service.stop();
      await backend.stop();
      await server.stop();
    });

    async function passed(headers: readonly string[]): Promise<Received> {
      const { status, body } = await proxy.send({ headers: [bearer, ...headers] });
      expect([headers, status]).toEqual([headers, 200]);
      return body as unknown as Received;
    }

    /** Sends a request with the token, which does not reach the backend. */
    async function stopped(request: Partial<RawHttpRequest>): Promise<number> {
      const count = backend.received.length;
      const { headers = [], ...more } = request;
      const { status } = await proxy.send({ ...more, headers: [...headers, bearer] });
      expect([request, backend.received.length]).toEqual([request, count]);
      return status;
    }

    it('passes on requests for the name of the backend alone', async () => {
      const hosts = ['other.example.org', `${HOST}.other.example.org`, `other.${HOST}`];
      for (const host of [...hosts, `u@${HOST}`, `${HOST}@other`, `${HOST}/other`, '127.0.0.1']) {
        await stopped({ headers: [`Host: ${host}`] });
      }
      await stopped({ target: 'http://other.example.org/', headers: ['Host: other.example.org'] });
      for (const host of [HOST, HOST.toUpperCase(), `${HOST}:443`]) {
        expect((await passed([`Host: ${host}`])).method).toBe('GET');
      }
    });

    it('passes on nothing that the client says about the addresses of both', async () => {
      for (const [header, value] of Object.entries(CLAIMED)) {
        for (const spelling of spellingsOf(header)) {
          const { status, body } = await proxy.send({
            headers: [bearer, `${spelling}: ${value}`, `${spelling}: ${value}`],
          });
          expect([spelling, [200, 400].includes(status)]).toEqual([spelling, true]);
          const { headers = [] } = body as Partial<Received>;
          const known = headers.filter(([one]) => spelledAlike(one) === header);
          expect(known.filter(([, one]) => one.includes(value))).toEqual([]);
        }
      }
    });

    it('passes on nothing that the client lists in its Connection header', async () => {
      const { headers } = await passed(['Connection: x-gatehouse-account, x-gatehouse-session']);
      const listed = headers.filter(([header]) => header.toLowerCase() === 'connection');
      expect(listed.filter(([, value]) => /gatehouse/i.test(value))).toEqual([]);
    });

    it('opens no tunnel', async () => {
      const target = `${HOST}:${proxy.port}`;
      const headers = [`Host: ${target}`];
      expect([400, 405]).toContain(await stopped({ method: 'CONNECT', target, headers }));
    });

    it('passes on no chunks in HTTP/1.0, which backends read differently', async () => {
      const chunked = ['Transfer-Encoding: chunked', 'Connection: keep-alive'];
      const request = { method: 'POST', version: '1.0', body: '3\r\nabc\r\n0\r\n\r\n' };
      const { status, body } = await proxy.send({ ...request, headers: [bearer, ...chunked] });
      const { headers = [] } = body as Partial<Received>;
      const encodings = headers.filter(([header]) => /^transfer-encoding$/i.test(header));
      expect([[200, 400].includes(status), encodings]).toEqual([true, []]);
    });
  });
}
