import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:https';
import { connect as openSocket } from 'node:net';
import { join } from 'node:path';
import { connect as openTls, type TLSSocket } from 'node:tls';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { connect } from '../../helpers/client-live.js';
import { HttpProxy } from '../../helpers/http-proxy.js';
import { waitFor } from '../../helpers/wait.js';

const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Acme Servers');
/** A name that only a proxy can look up. */
const CORP = 'gatehouse.corp.test';
const issue = (name: string) =>
  authority.issue({
    subject: `/CN=${name}`,
    names: ['IP:127.0.0.1', `DNS:${CORP}`],
    usage: 'serverAuth',
  });
const [first, second] = [issue('first'), issue('second')];
const path = (name: string): string => join(directory, name);
const TLS = { SERVICE_TLS_CERT_PATH: path('tls.crt'), SERVICE_TLS_KEY_PATH: path('tls.key') };
const trusted = { ca: authority.cert, agent: false } as const;

writeFileSync(TLS.SERVICE_TLS_CERT_PATH, first.cert);
writeFileSync(TLS.SERVICE_TLS_KEY_PATH, first.key);
const server = await startServer({
  env: { ...TLS, SERVICE_LOGIN_ORIGINS: `https://${CORP}` },
  untilReady: false,
});
afterAll(() => server.stop());

describe('the main port with a certificate', () => {
  async function answerOf(route: string): Promise<IncomingMessage> {
    const [answer] = (await once(get(`${server.url}${route}`, trusted), 'response')) as [
      IncomingMessage,
    ];
    return answer.resume();
  }

  async function servedName(): Promise<string> {
    const { port } = server;
    const socket: TLSSocket = openTls({ port, host: '127.0.0.1', ...trusted });
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return String(subject.CN);
  }

  it('serves HTTPS, and makes browsers keep to it', async () => {
    expect(server.url).toMatch(/^https:/);
    await waitFor('readiness', async () => (await answerOf('/readyz')).statusCode === 200);
    const { statusCode, headers } = await answerOf('/v1/features');
    expect({ statusCode, headers }).toMatchObject({
      statusCode: 200,
      headers: { 'strict-transport-security': expect.stringContaining('max-age=') },
    });
  });

  it('serves live updates', async () => {
    const agent = new Agent({ ca: authority.cert });
    const refused = connect(server, { token: 'wrong' }, { agent });
    await expect(refused).rejects.toMatchObject({ data: { code: 'invalid-token' } });
  });

  it('serves commands that reach it by a proxy alone, with their live updates', async () => {
    const proxy = await HttpProxy.start({ hosts: { [CORP]: `127.0.0.1:${server.port}` } });
    const user = await createCliUser();
    const env = {
      ...{ HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: authority.certPath },
      GATEHOUSE_SERVER: `https://${CORP}`,
    };
    expect(await user.run(['signup'], env)).toMatchObject({ code: 0 });
    const watch = user.start(['watch', '--json'], env);
    await watch.until(() => watch.stderr().includes('Connected'));
    expect(await user.run(['tokens', 'add', 'one'], env)).toMatchObject({ code: 0 });
    await watch.until(() => watch.stdout().includes('push-tokens-changed'));
    watch.child.kill('SIGINT');
    expect(await watch.exited).toMatchObject({ code: 0 });
    expect(new Set(proxy.requests)).toEqual(new Set([`${CORP}:443`]));
    await proxy.close();
  });

  it('closes a connection that speaks plain HTTP, without an answer', async () => {
    const socket = openSocket(server.port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.on('error', () => undefined).write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'close');
    expect(received).not.toContain('HTTP/1.1');
  });

  it('closes the oldest of more connections than may be in a handshake', async () => {
    const silent = Array.from({ length: 1100 }, () =>
      openSocket({ port: server.port, host: '127.0.0.1' })
        .on('error', () => undefined)
        .resume(),
    );
    await Promise.all(silent.slice(0, 100).map((socket) => once(socket, 'close')));
    expect((await answerOf('/livez')).statusCode).toBe(200);
    // A time-out would have closed all of them.
    expect(silent.filter(({ closed }) => closed).length).toBeLessThan(200);
    silent.forEach((socket) => socket.destroy());
  });

  it('keeps the certificate while its files do not belong together, and then uses the new one', async () => {
    writeFileSync(TLS.SERVICE_TLS_CERT_PATH, second.cert);
    await server.logged(/"level":"error".*files of PORT are not used/);
    expect(await servedName()).toBe('first');
    writeFileSync(TLS.SERVICE_TLS_KEY_PATH, second.key);
    await waitFor('the new certificate', async () => (await servedName()) === 'second');
    expect(server.logs()).not.toContain('PRIVATE');
  });
});

it('ends with 78 and the variable when the key belongs to another certificate', async () => {
  const env = { SERVICE_TLS_CERT_PATH: first.certPath, SERVICE_TLS_KEY_PATH: second.keyPath };
  await expect(startServer({ env, untilReady: false })).rejects.toThrow('SERVICE_TLS_KEY_PATH');
});
