import { randomUUID } from 'node:crypto';
import { call } from '../../../helpers/client.js';
import { KEYLESS, OffboardingFixture } from '../../../fixtures/offboarding-fixture.js';
import { chained, issuing, startDirect } from '../../../fixtures/tls-listener-fixture.js';

const fixture = await OffboardingFixture.open();
const { server, post, logIn } = await startDirect(
  {},
  {
    store: fixture.store,
    env: { ...fixture.env, ...KEYLESS, AUTH_ACCESS_CACHE_SECONDS: '60' },
  },
);
afterAll(async () => {
  await server.stop();
  await fixture.close();
});

const CONNECT = '/v1/connect/certificate';

/** A person who signed in at a provider and connected a certificate, with which `own` signs in too. */
async function personWithCertificate() {
  const own = issuing.issue({ names: [`email:${randomUUID().slice(0, 8)}@corp.example`] });
  const person = await fixture.keylessLogin(server);
  const headers = { authorization: `Bearer ${person.token}` };
  expect((await post({ ...chained(own), agent: false, headers }, CONNECT)).status).toBe(200);
  return { own, person };
}

it('ends the sessions of a certificate that is unlinked: no revocation of it would be noticed', async () => {
  const { own, person } = await personWithCertificate();
  const [thief, other] = [await logIn(own), await logIn(own)].map(({ body }) =>
    String(body['token']),
  );
  expect((await call(server, 'DELETE', CONNECT, { token: thief ?? '' })).status).toBe(200);
  for (const token of [thief, other]) {
    expect((await call(server, 'GET', '/v1/push-tokens', { token: token ?? '' })).status).toBe(401);
  }
  expect(await fixture.statusOf(server, person)).toBe(200);
});

it('admits no login that begins while the certificate is unlinked', async () => {
  const { own, person } = await personWithCertificate();
  const unlinking = await fixture.sql.connect();
  try {
    await unlinking.query('BEGIN');
    await unlinking.query(`DELETE FROM identity WHERE provider = 'mtls' AND account_id = $1`, [
      person.accountId,
    ]);
    let isAnswered = false;
    const login = logIn(own).finally(() => (isAnswered = true));
    await fixture.until('it waits', async () => {
      const { rows } = await fixture.sql.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return isAnswered || rows.length > 0;
    });
    await unlinking.query('COMMIT');
    // It is the first login of another account.
    expect((await login).body).toMatchObject({ success: true, created: true });
  } finally {
    unlinking.release();
  }
});

it('links and unlinks none for a session that ended, which this replica has in memory', async () => {
  const show = async (token: string): Promise<unknown> => {
    const own = issuing.issue({ names: [`email:${randomUUID().slice(0, 8)}@corp.example`] });
    const headers = { authorization: `Bearer ${token}` };
    return (await post({ ...chained(own), agent: false, headers }, CONNECT)).body;
  };
  const [{ person }, other] = [await personWithCertificate(), await fixture.keylessLogin(server)];
  for (const { accountId, token } of [person, other]) {
    expect((await call(server, 'GET', '/v1/push-tokens', { token })).status).toBe(200);
    // Another replica ends it, whose message is lost.
    const end = 'UPDATE account SET token_epoch = token_epoch + 1 WHERE id = $1';
    await fixture.sql.query(end, [accountId]);
  }
  const unlinked = await call(server, 'DELETE', CONNECT, { token: person.token });
  const refused = { code: 'token-revoked' };
  expect([unlinked.body, await show(other.token)]).toMatchObject([refused, refused]);
});
