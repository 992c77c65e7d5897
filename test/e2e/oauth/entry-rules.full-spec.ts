import { decodeJwt } from 'jose';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { backends, backendToken, basic, postForm } from '../../fixtures/resource-server-fixture.js';
import { sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

const OPEN = { ...KEYLESS, AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true' };

const relay = { id: 'relay', claims: ['login', 'email'] };
const setups = [
  backends([relay]),
  backends([{ ...relay, requireProviders: ['people'] }]),
  backends([{ ...relay, allowKeyless: false }]),
] as const;

const fixture = await OffboardingFixture.open();
const start = ({ env }: (typeof setups)[number]) => fixture.start({ ...OPEN, ...env });
const open = await start(setups[0]);
let requiring: Server;
let keyed: Server;
afterAll(() => fixture.close());

describe('the entry of a backend (two replicas; needs PostgreSQL and Redis)', () => {
  const forward = (server: Server, token: string) =>
    call(server, 'GET', '/v1/oauth/forward-auth/relay', { token });

  const introspect = async (server: Server, token: string, setup = setups[0]) =>
    (
      await postForm(
        server,
        '/v1/oauth/introspect',
        { token },
        basic('relay', setup.secretOf('relay')),
      )
    ).body;

  // A replica ends what its rules refuse seconds after its start, and then every minute.
  beforeAll(async () => {
    const isEnded = (token: string) =>
      waitFor('its rules are compared', async () => (await forward(open, token)).status === 401);
    const ofKey = await backendToken(open, await tokenOf(open, makeDeviceKey()), 'relay');
    requiring = await start(setups[1]);
    await isEnded(ofKey);
    const { token } = await fixture.keylessLogin(open);
    const keyless = await backendToken(open, token, 'relay');
    keyed = await start(setups[2]);
    await isEnded(keyless);
  });

  it('puts the names of the person into tokens and headers', async () => {
    const { token } = await fixture.keylessLogin(open);
    await fixture.sql.query(
      `UPDATE identity SET login = 'Zoë / %0A', facts = '{"email": "zoe@example.org"}'`,
    );
    const access = await backendToken(open, token, 'relay');
    const names = { login: 'Zoë / %0A', email: 'zoe@example.org' };
    expect(decodeJwt(access)).toMatchObject({ ...names, login_method: 'people' });
    expect(await introspect(open, access)).toMatchObject({ active: true, ...names });
    const { status, headers } = await forward(open, access);
    expect([status, headers['x-gatehouse-login']]).toEqual([200, 'Zo%C3%AB%20%2F%20%250A']);
  });

  it('dates a token from before it judges the session', async () => {
    const { token } = await fixture.keylessLogin(open);
    const sql = await fixture.sql.connect();
    await sql.query('BEGIN');
    await sql.query(`SELECT FROM account FOR UPDATE`);
    const issued = backendToken(open, token, 'relay');
    await waitFor('the exchange waits for the lock', async () => {
      const { rowCount } = await fixture.sql.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
      );
      return rowCount !== 0;
    });
    const seconds = Math.floor(Date.now() / 1000);
    await waitFor('the next second', () => Date.now() / 1000 > seconds + 1);
    await sql.query('ROLLBACK');
    sql.release();
    expect(decodeJwt(await issued).iat).toBeLessThanOrEqual(seconds);
  });

  it('says when and how the person logged in', async () => {
    const { token } = await fixture.keylessLogin(open);
    // A session that another one approved has the login of that one.
    await fixture.sql.query(
      `UPDATE session SET authenticated_by = 'mtls', authenticated_at = to_timestamp(1700000000)
       WHERE id = $1`,
      [sessionIdOf(token)],
    );
    const claims = decodeJwt(await backendToken(open, token, 'relay'));
    expect(claims).toMatchObject({ login_method: 'mtls', auth_time: 1_700_000_000 });
  });

  it('refuses tokens that its rules do not admit, at proxies and introspection', async () => {
    const token = await backendToken(open, await tokenOf(open, makeDeviceKey()), 'relay');
    expect((await forward(open, token)).status).toBe(200);
    const refused = await forward(requiring, token);
    expect(refusalOf(refused)).toMatchObject({ status: 403, code: 'provider-required' });
    expect(refused.headers['www-authenticate']).toContain('Bearer');
    expect(await introspect(requiring, token, setups[1])).toEqual({ active: false });

    const { token: session } = await fixture.keylessLogin(open);
    const keyless = await backendToken(open, session, 'relay');
    expect((await forward(requiring, keyless)).status).toBe(200);
    expect(refusalOf(await forward(keyed, keyless))).toMatchObject({ status: 403 });
    expect(await introspect(keyed, keyless, setups[2])).toEqual({ active: false });
  });
});
