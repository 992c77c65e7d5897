import { setTimeout as sleep } from 'node:timers/promises';
import { OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { TcpProxy } from '../../helpers/tcp-proxy.js';

/** Refuses connections, because no service listens there. */
const CLOSED_PORT = 1;
/** A failover takes longer than the first attempts to store an answer. */
const OUTAGE_MS = 15_000;

const fixture = await OffboardingFixture.open();
const { databaseUrl } = fixture.store;
const port = Number(new URL(databaseUrl ?? '').port);
const proxy = await TcpProxy.start(port);
const server = await fixture.start({ DATABASE_URL: proxy.urlFor(databaseUrl ?? '') });
afterAll(async () => {
  await fixture.close();
  proxy.close();
});

describe('a database that is away during a re-check', () => {
  it('keeps the access of a person whose provider renews the refresh token meanwhile', async () => {
    const person = await fixture.person(server);
    fixture.provider.delayMs = 2000;
    const checked = fixture.recheck(person.sub);
    await fixture.until('the check begins', async () => {
      const { rowCount } = await fixture.sql.query(
        'SELECT 1 FROM identity WHERE subject = $1 AND lease_until IS NOT NULL',
        [person.sub],
      );
      return rowCount === 1;
    });
    proxy.leadTo(CLOSED_PORT);
    proxy.cut();
    await sleep(OUTAGE_MS);
    proxy.leadTo(port);
    await checked;
    await fixture.recheck(person.sub);
    expect(await fixture.statusOf(server, person)).toBe(200);
  });
});
