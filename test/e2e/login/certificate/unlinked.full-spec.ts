import { randomUUID } from 'node:crypto';
import { call } from '../../../helpers/client.js';
import { KEYLESS, OffboardingFixture } from '../../../fixtures/offboarding-fixture.js';
import { chained, issuing, startDirect } from '../../../fixtures/tls-listener-fixture.js';

const fixture = await OffboardingFixture.open();
const { server, post, logIn } = await startDirect(
  {},
  { store: fixture.store, env: { ...fixture.env, ...KEYLESS } },
);
afterAll(async () => {
  await server.stop();
  await fixture.close();
});

const CONNECT = '/v1/connect/certificate';

it('ends the sessions of a certificate that is unlinked: no revocation of it would be noticed', async () => {
  const own = issuing.issue({ names: [`email:${randomUUID().slice(0, 8)}@corp.example`] });
  const person = await fixture.keylessLogin(server);
  const headers = { authorization: `Bearer ${person.token}` };
  expect((await post({ ...chained(own), agent: false, headers }, CONNECT)).status).toBe(200);
  const [thief, other] = [await logIn(own), await logIn(own)].map(({ body }) =>
    String(body['token']),
  );
  expect((await call(server, 'DELETE', CONNECT, { token: thief ?? '' })).status).toBe(200);
  for (const token of [thief, other]) {
    expect((await call(server, 'GET', '/v1/push-tokens', { token: token ?? '' })).status).toBe(401);
  }
  expect(await fixture.statusOf(server, person)).toBe(200);
});
