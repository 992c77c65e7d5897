import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { answerTo, closeServer, listen } from '../../../../test/helpers/local-server.js';
import { AccessRefused } from '../access-refused.js';
import { createGuard } from '../create-guard.js';
import type { Guard } from '../guard.js';
import { accessOf, bearerOf, upgradeTokenOf } from './credentials.js';

let guard: Guard;
let server: Server;
let port: number;
let received: IncomingMessage[];
beforeAll(async () => {
  guard = createGuard({
    issuer: 'https://gate.example',
    resource: 'https://relay.example',
    client: { id: 'relay', secret: 'x' },
    introspection: { cacheSeconds: 0 },
  });
  server = createServer((incoming, response) => {
    received.push(incoming);
    response.end();
  });
  port = await listen(server);
});
beforeEach(() => {
  received = [];
});
afterAll(async () => {
  await closeServer(server);
  await guard.close();
});

/** Sends these headers, each as often as it is given, and returns the request that arrived. */
async function requestOf(
  authorization: readonly string[],
  protocols?: string,
): Promise<IncomingMessage> {
  const headers = [
    'Host',
    'relay.example',
    ...authorization.flatMap((value) => ['Authorization', value]),
    ...(protocols === undefined ? [] : ['Sec-WebSocket-Protocol', protocols]),
  ];
  await answerTo(request({ port, host: '127.0.0.1', headers, agent: false }));
  const [incoming] = received;
  if (incoming === undefined) {
    throw new Error('No request arrived.');
  }
  return incoming;
}

const outcome = (read: () => string): string => {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(AccessRefused);
    return (error as AccessRefused).code;
  }
};

describe(bearerOf.name, () => {
  it.each([
    [['Bearer a.b.c'], 'a.b.c'],
    [['bearer   a.b.c  '], 'a.b.c'],
    [[], 'missing-token'],
    [['Basic eDp5'], 'missing-token'],
    [['Bearer'], 'missing-token'],
    [['Bearer '], 'missing-token'],
    [['Bearera.b.c'], 'missing-token'],
    [['Bearer a b'], 'missing-token'],
    [['x Bearer a'], 'missing-token'],
    [['Bearer a', 'Bearer a'], 'invalid-request'],
    [['Bearer a', 'Basic eDp5'], 'invalid-request'],
  ])('reads the headers %j as %s', async (headers, expected) => {
    const incoming = await requestOf(headers);
    expect(outcome(() => bearerOf(guard, incoming))).toBe(expected);
  });
});

describe(upgradeTokenOf.name, () => {
  it.each([
    [['Bearer a'], undefined, 'a', undefined],
    [['Bearer a'], 'relay.v1', 'a', 'relay.v1'],
    [[], 'bearer.a.b', 'a.b', undefined],
    [[], 'relay.v1, bearer.a ,relay.v2', 'a', 'relay.v1, relay.v2'],
    [[], 'relay.v1', 'missing-token', 'relay.v1'],
    [[], 'bearer.', 'missing-token', 'bearer.'],
    [[], 'x-bearer.a', 'missing-token', 'x-bearer.a'],
    [[], '', 'missing-token', undefined],
    [[], undefined, 'missing-token', undefined],
    [['Bearer a'], 'bearer.a', 'invalid-request', undefined],
    [[], 'bearer.a,bearer.b', 'invalid-request', undefined],
  ])(
    'reads the headers %j and the subprotocols %j as %s',
    async (headers, offered, expected, left) => {
      const incoming = await requestOf(headers, offered);
      expect(outcome(() => upgradeTokenOf(guard, incoming))).toBe(expected);
      expect(incoming.headers['sec-websocket-protocol']).toBe(left);
      expect('sec-websocket-protocol' in incoming.headers).toBe(left !== undefined);
    },
  );
});

describe(accessOf.name, () => {
  it('returns null, and never throws, for what no guard admitted', () => {
    const others: unknown[] = [{}, null, undefined, 'x'];
    expect(others.map((other) => accessOf(other as object))).toEqual([null, null, null, null]);
  });
});
