import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
const providersFile = join(mkdtempSync(join(tmpdir(), 'gatehouse-outage-')), 'providers.json');
writeFileSync(providersFile, fixture.providers());
const server = await fixture.start({
  DATABASE_URL: proxy.urlFor(databaseUrl ?? ''),
  AUTH_PROVIDERS_CONFIG_JSON: '',
  AUTH_PROVIDERS_CONFIG_PATH: providersFile,
});
afterAll(async () => {
  await fixture.close();
  proxy.close();
});

describe('a database that is away during a re-check', () => {
  /** Begins a check of a person, and takes the database away before the answer of the provider. */
  const checkDuringOutage = async (sub: string): Promise<void> => {
    fixture.provider.delayMs = 2000;
    await fixture.sql.query(
      'UPDATE identity SET eligibility_next_check_at = now() WHERE subject = $1',
      [sub],
    );
    await fixture.until('the check begins', async () => {
      const { rowCount } = await fixture.sql.query(
        'SELECT 1 FROM identity WHERE subject = $1 AND lease_until IS NOT NULL',
        [sub],
      );
      return rowCount === 1;
    });
    proxy.leadTo(CLOSED_PORT);
    proxy.cut();
    await sleep(OUTAGE_MS);
    proxy.leadTo(port);
  };

  it('keeps the access of a person whose provider renews the refresh token meanwhile', async () => {
    const person = await fixture.person(server);
    await checkDuringOutage(person.sub);
    await fixture.recheck(person.sub);
    expect(await fixture.statusOf(server, person)).toBe(200);
  });

  it('stores the refusal of a provider that answers meanwhile, without asking it again', async () => {
    const person = await fixture.person(server);
    fixture.provider.groups.delete(person.sub);
    await checkDuringOutage(person.sub);
    await fixture.until('the refusal is stored', async () => {
      const { rowCount } = await fixture.sql.query(
        `SELECT 1 FROM identity WHERE subject = $1 AND eligibility_status = 'ineligible'`,
        [person.sub],
      );
      return rowCount === 1;
    });
    expect(fixture.provider.checks.get(person.sub)).toBe(1);
    await fixture.until('the access ends', async () => {
      return (await fixture.statusOf(server, person)) === 403;
    });
  });
});

describe('a database that is away while the rules change', () => {
  it('ends the access of people whom they refuse, once it is back', async () => {
    const person = await fixture.person(server);
    proxy.leadTo(CLOSED_PORT);
    proxy.cut();
    writeFileSync(providersFile, fixture.providers({ allow: { groupsAny: ['directors'] } }));
    await server.logged(/changed rules are in use/);
    await sleep(1000);
    proxy.leadTo(port);
    await fixture.until('403', async () => (await fixture.statusOf(server, person)) === 403);
  });
});
