import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { call, expectErrorShape, refusalOf } from '../../helpers/client.js';

const PER_MINUTE = 3;

const tokens = await AdminTokensFile.create();
const server = await startServer({
  env: { ...tokens.env, ADMIN_RATE_LIMIT_PER_MINUTE: String(PER_MINUTE) },
});
const url = await adminUrlOf(server);
afterAll(() => server.stop());

/** Sends bytes to the administration port, and reads until the server closes the connection. */
function raw(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

describe('the administration port', () => {
  it.each(['/', '/admin/', '/admin/brand.css'])('refuses two Host headers at %s', async (path) => {
    const hosts = 'host: a.example\r\nhost: b.example\r\nconnection: close\r\n';
    const answer = await raw(`GET ${path} HTTP/1.1\r\n${hosts}\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"code":"invalid-request","error":"invalid-request"');
  });

  it('limits the requests for the console as those for the API', async () => {
    for (let request = 0; request < PER_MINUTE; request += 1) {
      await call({ url }, 'GET', '/admin/');
    }
    for (const path of ['/', '/admin', '/admin/', '/admin/brand.css']) {
      const answer = await call({ url }, 'GET', path);
      expect(refusalOf(answer)).toEqual({ status: 429, code: 'rate-limited' });
      expectErrorShape(answer);
    }
  });

  it.each([
    ['garbage', 'garbage\r\n\r\n', 400],
    ['CONNECT', 'CONNECT a.example:443 HTTP/1.1\r\nhost: a.example\r\n\r\n', 400],
    ['long headers', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('answers %s in the shape of the contract, and closes', async (_what, bytes, status) => {
    const [head = '', body = ''] = (await raw(bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain('connection: close');
    expect(JSON.parse(body)).toMatchObject({ statusCode: status, code: 'invalid-request' });
  });
});
