import { call, expectErrorShape, logIn, type Answer } from '../../helpers/client.js';
import {
  openWebSocket,
  RawWebSocket,
  refusedUpgrade,
  upgrade,
} from '../../helpers/raw-websocket.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';

const PATH = '/v1/updates/?EIO=4&transport=';
const REQUEST_ID = { 'x-request-id': 'refused-7' };

const env = {
  SERVICE_CORS_ORIGINS: 'https://app.example',
  SERVICE_PUBLIC_URL: 'https://gate.example/base',
  SERVICE_TRUSTED_PROXIES: '127.0.0.1',
  SERVICE_UPDATES_HANDSHAKE_RATE_LIMIT_PER_IP_PER_MINUTE: '3',
  SERVICE_UPDATES_MAX_CONNECTIONS: '2',
};
const [server, withPolling] = await Promise.all([
  startServer({ env }),
  startServer({ env: { ...env, SERVICE_UPDATES_TRANSPORTS: 'websocket,polling' } }),
]);

afterAll(() => Promise.all([server.stop(), withPolling.stop()]));

function expectRefusal(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status });
  expectErrorShape(answer);
  expect(answer.body).toMatchObject({ code, requestId: REQUEST_ID['x-request-id'] });
  expect(answer.headers).toMatchObject({ ...REQUEST_ID, 'cache-control': 'no-store' });
}

describe('a request for a live connection', () => {
  it.each([
    ['without a transport', 'GET', '/v1/updates/?EIO=4'],
    ['with a transport that does not exist', 'GET', `${PATH}smoke`],
    ['with a transport that is a property of every object', 'GET', `${PATH}constructor`],
    ['by polling, where it is not offered', 'GET', `${PATH}polling`],
    ['for a WebSocket that does not ask to upgrade', 'GET', `${PATH}websocket`],
    ['of a session that does not exist', 'GET', `${PATH}websocket&sid=nothing`],
    ['by POST', 'POST', `${PATH}websocket`],
  ])('refuses a request %s', async (_what, method, path) => {
    const answer = await call(server, method, path, { headers: REQUEST_ID });
    expectRefusal(answer, 400, 'invalid-request');
    expect(answer.body['details']).toEqual([
      { path: expect.any(String), message: expect.any(String) },
    ]);
  });

  it.each([
    ['of an old revision of the protocol', 'GET', '/v1/updates/?EIO=3&transport=polling'],
    ['of no revision', 'GET', '/v1/updates/?transport=polling'],
    ['of a session that does not exist', 'GET', `${PATH}polling&sid=nothing`],
    ['of a session that is a property of every object', 'GET', `${PATH}polling&sid=__proto__`],
    ['by POST', 'POST', `${PATH}polling`],
  ])('refuses a polling request %s', async (_what, method, path) => {
    const answer = await call(withPolling, method, path, { headers: REQUEST_ID });
    expectRefusal(answer, 400, 'invalid-request');
  });

  it('refuses polling from a foreign page', async () => {
    const headers = { ...REQUEST_ID, origin: 'https://evil.example' };
    const answer = await call(withPolling, 'GET', `${PATH}polling`, { headers });
    expectRefusal(answer, 403, 'origin-not-allowed');
  });

  it('refuses another method for a session', async () => {
    const headers = { ...REQUEST_ID, 'x-forwarded-for': '192.0.2.20' };
    const { text } = await call(withPolling, 'GET', `${PATH}polling`, { headers });
    const { sid } = JSON.parse(text.slice(1)) as { sid: string };
    const answer = await call(withPolling, 'PUT', `${PATH}polling&sid=${sid}`, { headers });
    expectRefusal(answer, 400, 'invalid-request');
  });
});

describe('an upgrade', () => {
  const sockets = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };

  it.each([
    ['of an old revision of the protocol', '/v1/updates/?EIO=3&transport=websocket', {}],
    ['with a transport that does not exist', `${PATH}smoke`, {}],
    ['with another transport', `${PATH}polling`, {}],
    ['of a session that does not exist', `${PATH}websocket&sid=nothing`, {}],
    ['of a path that begins like it', '/v1/updatesx?EIO=4&transport=websocket', {}],
    ['of another path', '/v1/features', {}],
    ['to another protocol', `${PATH}websocket`, { ...sockets, upgrade: 'h2c' }],
    ['without a key', `${PATH}websocket`, { 'sec-websocket-key': '' }],
    ['of another version', `${PATH}websocket`, { ...sockets, 'sec-websocket-version': '12' }],
  ])('refuses an upgrade %s, on either server', async (what, path, headers) => {
    for (const target of [server, withPolling]) {
      const request = { path, headers: { ...headers, ...REQUEST_ID, 'x-forwarded-for': what } };
      expectRefusal(await refusedUpgrade(target, request), 400, 'invalid-request');
    }
  });

  it.each([
    ...['https://evil.example', 'https://app.example.evil.example', 'null', 'http://app.example'],
    ...['https://gate.example:8443'],
    ...['http://[', 'https://', 'file://127.0.0.1'],
  ])('refuses an upgrade from a page of %s', async (origin) => {
    const answer = await refusedUpgrade(server, { headers: { ...REQUEST_ID, origin } });
    expectRefusal(answer, 403, 'origin-not-allowed');
  });

  const { host } = new URL(server.url);
  it.each([
    ['a listed page', 'https://app.example', '192.0.2.50'],
    ['the page of this server', `http://${host}`, '192.0.2.51'],
    ['the page of this server, behind a proxy that ends TLS', `https://${host}`, '192.0.2.52'],
    ['the page at the public address, whatever the Host', 'https://gate.example', '192.0.2.53'],
    ['an app with React Native on Android', `http://${host}/`, '192.0.2.54'],
    ['such an app, with the port in its address', 'https://gate.example:443', '192.0.2.55'],
  ])('admits %s', async (_name, origin, from) => {
    (await openWebSocket(server, { origin, 'x-forwarded-for': from })).destroy();
  });

  it('admits a path without the last slash, by either transport', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.57' };
    for (const target of [server, withPolling]) {
      const path = '/v1/updates?EIO=4&transport=websocket';
      const opened = await upgrade(target, { path, headers });
      if (!(opened instanceof RawWebSocket)) {
        throw new Error(`The upgrade was refused: ${opened.text}`);
      }
      await opened.message('0{');
      opened.destroy();
    }
    const path = '/v1/updates?EIO=4&transport=polling';
    expect((await call(withPolling, 'GET', path, { headers })).status).toBe(200);
    expectErrorShape(await call(server, 'GET', path, { headers }));
    const other = await call(withPolling, 'GET', path.replace('updates', 'updatesx'), { headers });
    expect(other.status).toBe(404);
  });

  it('admits polling by the page of this server', async () => {
    const origin = `http://${new URL(withPolling.url).host}`;
    const headers = { origin, 'x-forwarded-for': '192.0.2.56' };
    expect((await call(withPolling, 'GET', `${PATH}polling`, { headers })).status).toBe(200);
  });

  it('refuses a second WebSocket of a session, which stays open', async () => {
    const open = await openWebSocket(server, { 'x-forwarded-for': '192.0.2.30' });
    const { sid } = JSON.parse((await open.message('0{')).slice(1)) as { sid: string };
    const answer = await refusedUpgrade(server, {
      path: `${PATH}websocket&sid=${sid}`,
      headers: REQUEST_ID,
    });
    expectRefusal(answer, 400, 'invalid-request');
    await open.join((await logIn(server)).token);
    open.destroy();
  });

  it('refuses an upgrade beyond the limit of its address, for IPv6 of its /64', async () => {
    const from = (address: string) => ({ ...REQUEST_ID, 'x-forwarded-for': address });
    for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::ffff:3']) {
      (await openWebSocket(server, from(address))).destroy();
    }
    const answer = await refusedUpgrade(server, { headers: from('2001:db8::4') });
    expectRefusal(answer, 429, 'rate-limited');
    (await openWebSocket(server, from('2001:db8:0:1::1'))).destroy();
  });

  it('refuses an upgrade while the maximum is authenticated', async () => {
    const { token } = await logIn(server);
    const headers = { ...REQUEST_ID, 'x-forwarded-for': '192.0.2.40' };
    const [one, two, early] = [
      await openWebSocket(server, headers),
      await openWebSocket(server, headers),
      await openWebSocket(server, headers),
    ];
    await one.join(token);
    await two.join(token);
    expectRefusal(await refusedUpgrade(server, { headers }), 503, 'unavailable');
    // This connection was admitted before the limit was reached, and has not authenticated.
    early.send(`40${JSON.stringify({ token })}`);
    const refusal = JSON.parse((await early.message('44')).slice(2)) as object;
    expect(refusal).toMatchObject({
      message: 'unavailable',
      data: { statusCode: 503, requestId: REQUEST_ID['x-request-id'], retryAfterSeconds: 10 },
    });
    await early.closed;
    [one, two].forEach((socket) => socket.destroy());
  });
});
