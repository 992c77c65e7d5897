import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { backends, backendToken } from '../../fixtures/resource-server-fixture.js';
import { call, logIn } from '../../helpers/client.js';
import { startLocalServer } from '../../helpers/local-server.js';

/** The public address of the transmitter, which has to be known before it starts. */
const forward = async (method: string, path: string, body: string, headers: object) => {
  const response = await fetch(`${transmitter.url}${path}`, {
    ...{ method, headers: { ...headers } as Record<string, string> },
    ...(body !== '' && { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: { 'content-type': response.headers.get('content-type') ?? '' },
    ...(text !== '' && { json: JSON.parse(text) as unknown }),
  };
};
const env = () => ({
  ...KEYLESS,
  AUTH_PROVIDERS_CONFIG_JSON: fixture.providers({
    signals: {
      sharedSignals: {
        ...{ transmitter: address.url, audience: 'https://else.example', delivery: 'poll' },
        managementClient: {
          tokenUrl: `${address.url}/v1/oauth/token`,
          ...{ clientId: 'relay', clientSecret: setup.secretOf('relay') },
        },
      },
    },
  }),
});

const address = await startLocalServer(({ method, url, headers, body }) => {
  const { authorization = '', 'content-type': type = 'application/json' } = headers;
  const sent = { authorization, ...(body !== '' && { 'content-type': type }) };
  return forward(method, `${url.pathname}${url.search}`, body, sent);
});
const setup = backends([{ id: 'relay' }]);
const store = await createStore();
const transmitter = await startServer({
  store,
  env: { ...setup.env, SERVICE_PUBLIC_URL: address.url },
});
const fixture = await OffboardingFixture.open();
const receiver = await fixture.start(env());
afterAll(async () => {
  await fixture.close();
  await address.close();
  await transmitter.stop();
  await store.drop();
});

describe('Gatehouse as the transmitter of another Gatehouse', () => {
  it('ends the session there when its session here ends', async () => {
    const cli = await createCliUser();
    const variables = { ...fixture.env, ...env(), ...fixture.store.env };
    const connected = await cli.run(['signals', 'connect', 'people', '--json'], variables);
    expect([connected.code, connected.stderr]).toEqual([0, expect.any(String)]);
    expect(JSON.parse(connected.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      audiences: ['https://relay.example.com'],
    });
    const there = await logIn(transmitter);
    const { sid } = decodeJwt<{ sid: string }>(
      await backendToken(transmitter, there.token, 'relay'),
    );
    const person = await fixture.keylessLogin(receiver, randomUUID(), sid);
    const other = await fixture.keylessLogin(receiver, randomUUID(), randomUUID());
    await call(transmitter, 'POST', '/v1/auth/logout', { token: there.token });
    await fixture.until('401', async () => (await fixture.statusOf(receiver, person)) === 401);
    expect(await fixture.statusOf(receiver, other)).toBe(200);
  });
});
