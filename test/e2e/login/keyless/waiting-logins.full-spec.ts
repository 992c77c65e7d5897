import { finish } from '../../../helpers/keyless-calls.js';
import { KEYLESS, OffboardingFixture } from '../../../fixtures/offboarding-fixture.js';

const fixture = await OffboardingFixture.open();
const server = await fixture.start(KEYLESS);
afterAll(() => fixture.close());

describe('a login that waits for a row of the database', () => {
  it('checks a person whom a signal named while the login waited', async () => {
    const person = await fixture.keylessLogin(server);
    const held = await fixture.provenLogin(server, person.sub);
    fixture.provider.groups.set(person.sub, ['alumni']);
    const sql = await fixture.sql.connect();
    await sql.query('BEGIN');
    await sql.query('SELECT FROM identity WHERE subject = $1 FOR UPDATE', [person.sub]);
    const late = finish(server, held, 'people');
    await fixture.until('the login waits', async () => {
      const { rowCount } = await fixture.sql.query(
        `SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
      );
      return rowCount !== 0;
    });
    await sql.query(
      `UPDATE identity SET eligibility_next_check_at = clock_timestamp() WHERE subject = $1`,
      [person.sub],
    );
    await sql.query('COMMIT');
    sql.release();
    expect((await late).status).toBe(200);
    await fixture.until(
      'the account is refused',
      async () => (await fixture.statusOf(server, person)) === 403,
    );
  });
});
