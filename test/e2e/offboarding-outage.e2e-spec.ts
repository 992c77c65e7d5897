import { connect } from '../helpers/client-live.js';
import { IS_POSTGRES } from '../helpers/server.js';
import { OffboardingWorld } from './offboarding-world.js';

const INTERVAL_SECONDS = 3600;

const withServices = IS_POSTGRES ? describe : describe.skip;
withServices('while the provider is down (needs PostgreSQL and Redis)', () => {
  let world: OffboardingWorld;

  beforeEach(async () => {
    world = await OffboardingWorld.open();
  });
  afterEach(() => world.close());

  it('no account loses access where not strict, and its answers count again when it is available', async () => {
    const server = await world.start();
    const stays = await world.person(server);
    const leaves = await world.person(server);
    const live = await connect(server, { token: stays.token });
    world.provider.isDown = true;
    await world.makeDue(2 * INTERVAL_SECONDS);
    await world.until('asked in vain', () => world.provider.totalChecks >= 2);
    expect(await world.statusOf(server, stays)).toBe(200);
    expect(await world.statusOf(server, leaves)).toBe(200);
    expect(live.socket.connected).toBe(true);

    world.provider.groups.delete(leaves.sub);
    world.provider.isDown = false;
    await world.until('access ends', async () => (await world.statusOf(server, leaves)) === 403);
    await world.until('checked again', async () => {
      const { rowCount } = await world.sql.query(
        `SELECT 1 FROM identity WHERE subject = $1 AND consecutive_failures = 0
         AND eligibility_checked_at > now() - $2 * interval '1 second'`,
        [stays.sub, INTERVAL_SECONDS],
      );
      return rowCount === 1;
    });
    expect(await world.statusOf(server, stays)).toBe(200);
    expect(live.socket.connected).toBe(true);
    live.close();
  });

  it('every overdue account loses access where strict, and recovers by itself', async () => {
    const server = await world.start({ AUTH_OFFBOARDING_STRICT: 'true' });
    const overdue = await world.person(server);
    const live = await connect(server, { token: overdue.token });
    expect(await world.statusOf(server, overdue)).toBe(200);
    world.provider.isDown = true;
    await world.makeDue(INTERVAL_SECONDS);
    const fresh = await world.person(server);
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'people' });
    expect(await world.statusOf(server, overdue)).toBe(403);
    expect(await world.statusOf(server, fresh)).toBe(200);

    world.provider.isDown = false;
    await world.until(
      'access returns',
      async () => (await world.statusOf(server, overdue)) === 200,
    );
  });

  it('an overdue request is refused by policy where the job cannot run at all', async () => {
    const server = await world.start({ AUTH_OFFBOARDING_STRICT: 'true' });
    const person = await world.person(server);
    // Not due, yet too old even for a check that is under way: as if no replica had come to it.
    await world.sql.query(
      `UPDATE identity SET eligibility_checked_at = now() - $1 * interval '1 second'`,
      [1.02 * INTERVAL_SECONDS + 120],
    );
    expect(await world.statusOf(server, person)).toBe(403);
    expect(world.provider.totalChecks).toBe(0);
  });

  it.each(['true', 'false'])('a definite no counts all the same (strict %s)', async (strict) => {
    const server = await world.start({ AUTH_OFFBOARDING_STRICT: strict });
    const person = await world.person(server);
    world.provider.groups.delete(person.sub);
    await world.makeDue();
    await world.until('access ends', async () => (await world.statusOf(server, person)) === 403);
  });

  it('kill -9 of a worker only delays what it held', async () => {
    world.provider.delayMs = 300;
    const first = await world.start();
    const subs = await world.crowd(200);
    await world.until('some under way', () => world.provider.totalChecks > 20);
    await first.kill('SIGKILL');
    world.provider.delayMs = 0;
    const held = await world.sql.query<{ id: string }>(
      `SELECT id FROM identity WHERE lease_until IS NOT NULL`,
    );
    const ids = held.rows.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    const second = await world.start();
    const isDone = async (but: readonly string[]): Promise<boolean> => {
      const { rowCount } = await world.sql.query(
        `SELECT 1 FROM identity WHERE id <> ALL($1::uuid[])
         AND (lease_until IS NOT NULL OR eligibility_next_check_at <= now())`,
        [but],
      );
      return rowCount === 0;
    };
    await world.until('the rest done', () => isDone(ids));
    const untouched = await world.sql.query(
      `SELECT 1 FROM identity WHERE lease_until IS NOT NULL AND id = ANY($1::uuid[])`,
      [ids],
    );
    expect(untouched.rowCount).toBe(ids.length);
    // The leases of the dead one end, as they would after some minutes.
    await world.sql.query(`UPDATE identity SET lease_until = now() WHERE lease_until IS NOT NULL`);
    await world.until('all done', () => isDone([]));
    expect(subs.every((sub) => (world.provider.checks.get(sub) ?? 0) >= 1)).toBe(true);
    const twice = subs.filter((sub) => world.provider.checks.get(sub) === 2);
    expect(twice.length).toBeLessThanOrEqual(ids.length);
    expect(world.provider.totalChecks).toBe(subs.length + twice.length);
    expect(second.logs()).not.toContain('"level":"error"');
  });
});
