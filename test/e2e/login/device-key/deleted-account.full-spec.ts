import { KEYLESS, OffboardingFixture } from '../../../fixtures/offboarding-fixture.js';
import { call, logIn, loginBody, makeDeviceKey, type DeviceKey } from '../../../helpers/client.js';

const fixture = await OffboardingFixture.open();
const server = await fixture.start({
  ...KEYLESS,
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true',
  // Without a statement before that of the logins, more of them share one.
  AUTH_REQUIRE_SERVER_CHALLENGE: 'false',
});
afterAll(() => fixture.close());

const statusOf = async (key: DeviceKey): Promise<number> =>
  (await call(server, 'POST', '/v1/auth', { body: loginBody(key) })).status;

describe('logins while another account is deleted', () => {
  it('accepts them once the deletion is stored', async () => {
    const [leaving, staying] = [makeDeviceKey(), makeDeviceKey()];
    const { accountId } = await logIn(server, leaving);
    await logIn(server, staying);
    const deletion = await fixture.sql.connect();
    await deletion.query('BEGIN');
    await deletion.query('DELETE FROM account WHERE id = $1', [accountId]);
    const logins = Array.from({ length: 50 }, () =>
      Promise.all([statusOf(staying), statusOf(leaving)]),
    );
    await fixture.until('a login waits', async () => {
      const { rowCount } = await fixture.sql.query(
        `SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
      );
      return rowCount !== 0;
    });
    await deletion.query('COMMIT');
    deletion.release();
    const answers = await Promise.all(logins);
    expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200]));
  });
});
