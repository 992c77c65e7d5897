import { randomBytes } from 'node:crypto';
import { createStore } from '../../../fixtures/programs/store-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { call } from '../../../helpers/client.js';
import { linesAfterStart } from '../../../helpers/log-lines.js';
import { TcpProxy } from '../../../helpers/tcp-proxy.js';

/** Refuses connections, because no service listens there. */
const CLOSED_PORT = 1;
const OKTA = {
  id: 'okta',
  type: 'oidc',
  issuer: 'https://acme.example',
  clientId: 'gatehouse',
  clientSecret: 'a-client-secret-of-the-spec',
};

const store = await createStore();
const url = store.databaseUrl ?? '';
const proxy = await TcpProxy.start(Number(new URL(url).port));
const server = await startServer({
  store,
  env: {
    DATABASE_URL: proxy.urlFor(url),
    SERVICE_PUBLIC_URL: 'https://gate.example',
    AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([OKTA]),
  },
});
afterAll(async () => {
  await server.stop();
  proxy.close();
  await store.drop();
});

it('logs one line for returns from a provider while the database is away', async () => {
  proxy.leadTo(CLOSED_PORT);
  proxy.cut();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const state = randomBytes(32).toString('base64url');
    const path = `/v1/oauth/okta/callback?code=a-code&state=${state}`;
    const { status, headers } = await call(server, 'GET', path);
    expect([status, headers.location]).toEqual([302, expect.stringMatching(/error=unavailable/)]);
  }
  await server.logged(/The database is not available/);
  expect(linesAfterStart(server)).toEqual([
    expect.stringMatching(/^error The database is not available: /),
  ]);
});
