import { connect } from '../../helpers/client-live.js';
import { OffboardingFixture } from '../../fixtures/offboarding-fixture.js';

const INTERVAL_SECONDS = 3600;

describe('while the provider is down', () => {
  let fixture: OffboardingFixture;

  beforeEach(async () => {
    fixture = await OffboardingFixture.open();
  });
  afterEach(() => fixture.close());

  it('keeps the access of every account where not strict, and applies answers again after the outage', async () => {
    const server = await fixture.start();
    const stays = await fixture.person(server);
    const leaver = await fixture.person(server);
    const live = await connect(server, { token: stays.token });
    fixture.provider.isDown = true;
    await fixture.makeDue(2 * INTERVAL_SECONDS);
    await fixture.until('asked in vain', () => fixture.provider.totalChecks >= 2);
    expect(await fixture.statusOf(server, stays)).toBe(200);
    expect(await fixture.statusOf(server, leaver)).toBe(200);
    expect(live.socket.connected).toBe(true);

    fixture.provider.groups.delete(leaver.sub);
    fixture.provider.isDown = false;
    await fixture.until(
      'access ends',
      async () => (await fixture.statusOf(server, leaver)) === 403,
    );
    await fixture.until('checked again', async () => {
      const { rowCount } = await fixture.sql.query(
        `SELECT 1 FROM identity WHERE subject = $1 AND consecutive_failures = 0
         AND eligibility_checked_at > now() - $2 * interval '1 second'`,
        [stays.sub, INTERVAL_SECONDS],
      );
      return rowCount === 1;
    });
    expect(await fixture.statusOf(server, stays)).toBe(200);
    expect(live.socket.connected).toBe(true);
    live.close();
  });

  it('ends the access of overdue accounts where strict, and restores it by itself', async () => {
    const server = await fixture.start({ AUTH_OFFBOARDING_STRICT: 'true' });
    const overdue = await fixture.person(server);
    const live = await connect(server, { token: overdue.token });
    expect(await fixture.statusOf(server, overdue)).toBe(200);
    fixture.provider.isDown = true;
    await fixture.makeDue(INTERVAL_SECONDS);
    const fresh = await fixture.person(server);
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'people' });
    expect(await fixture.statusOf(server, overdue)).toBe(403);
    expect(await fixture.statusOf(server, fresh)).toBe(200);

    fixture.provider.isDown = false;
    await fixture.until(
      'access returns',
      async () => (await fixture.statusOf(server, overdue)) === 200,
    );
  });

  it('refuses an overdue request by policy while no job can run', async () => {
    const server = await fixture.start({ AUTH_OFFBOARDING_STRICT: 'true' });
    const person = await fixture.person(server);
    // The identity is not due, and its answer is too old even for a check in progress, as if no
    // replica had reached it.
    await fixture.sql.query(
      `UPDATE identity SET eligibility_checked_at = now() - $1 * interval '1 second'`,
      [1.02 * INTERVAL_SECONDS + 120],
    );
    expect(await fixture.statusOf(server, person)).toBe(403);
    expect(fixture.provider.totalChecks).toBe(0);
  });

  it('delays only the claimed checks of a worker that is killed', async () => {
    fixture.provider.delayMs = 300;
    const first = await fixture.start();
    const subs = await fixture.crowd(200);
    await fixture.until('some under way', () => fixture.provider.totalChecks > 20);
    await first.kill('SIGKILL');
    fixture.provider.delayMs = 0;
    const held = await fixture.sql.query<{ id: string }>(
      `SELECT id FROM identity WHERE lease_until IS NOT NULL`,
    );
    const ids = held.rows.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    const second = await fixture.start();
    const isDone = async (but: readonly string[]): Promise<boolean> => {
      const { rowCount } = await fixture.sql.query(
        `SELECT 1 FROM identity WHERE id <> ALL($1::uuid[])
         AND (lease_until IS NOT NULL OR eligibility_next_check_at <= now())`,
        [but],
      );
      return rowCount === 0;
    };
    await fixture.until('the rest done', () => isDone(ids));
    const untouched = await fixture.sql.query(
      `SELECT 1 FROM identity WHERE lease_until IS NOT NULL AND id = ANY($1::uuid[])`,
      [ids],
    );
    expect(untouched.rowCount).toBe(ids.length);
    // The leases of the killed worker end, as they would after some minutes.
    await fixture.sql.query(
      `UPDATE identity SET lease_until = now() WHERE lease_until IS NOT NULL`,
    );
    await fixture.until('all done', () => isDone([]));
    expect(subs.every((sub) => (fixture.provider.checks.get(sub) ?? 0) >= 1)).toBe(true);
    const twice = subs.filter((sub) => fixture.provider.checks.get(sub) === 2);
    expect(twice.length).toBeLessThanOrEqual(ids.length);
    expect(fixture.provider.totalChecks).toBe(subs.length + twice.length);
    expect(second.logs()).not.toContain('"level":"error"');
  });
});
