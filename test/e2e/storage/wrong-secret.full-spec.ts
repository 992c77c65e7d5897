import { mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccountCalls } from '../../helpers/account-calls.js';
import { call, expectErrorShape, logIn, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import {
  expectMarked,
  OLD,
  reseal,
  rowsOf,
  start,
  writeMarked,
} from '../../fixtures/sealed-content-fixture.js';

const WRONG = 'a-master-secret-of-another-server-0123456789';
const TOKEN = 'a-metrics-token-of-the-spec';

const runbooks = readFileSync(join(import.meta.dirname, '../../../docs/runbooks.md'), 'utf8');

const directory = mkdtempSync(join(tmpdir(), 'gatehouse-wrong-secret-'));

/** Replaces a file as a Kubernetes volume does. */
function writeSecret(secret: string): string {
  const path = join(directory, 'master');
  writeFileSync(`${path}.new`, `${secret}\n`);
  renameSync(`${path}.new`, path);
  return path;
}

const withFile = (secret: string) => ({
  SERVICE_MASTER_SECRET: '',
  SERVICE_MASTER_SECRET_FILE: writeSecret(secret),
  METRICS_TOKEN: TOKEN,
});

const sealedBy = async (server: Server): Promise<Record<string, number>> => {
  const page = (await call(server, 'GET', '/metrics', { token: TOKEN })).text;
  const lines = page.matchAll(/^gatehouse_sealed_values\{secret="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, secret, count]) => [secret, Number(count)]));
};

const readiness = (server: Server) => call(server, 'GET', '/readyz');

describe('a server whose master secret does not open the stored values', () => {
  it('refuses to serve, keeps the tokens of people valid, and serves with the right secret', async () => {
    const before = await start();
    const account = await writeMarked(before);
    await before.stop();

    const server = await start(withFile(WRONG), false);
    await server.logged(/"level":"error".*The master secret is wrong: .*key id [0-9a-f]{8}/);
    const unready = await readiness(server);
    expect(unready.status).toBe(503);
    expect(unready.body['dependencies']).toMatchObject({ database: 'wrong-secret' });
    expectErrorShape(unready);
    expect(unready.headers['retry-after']).toMatch(/^\d+$/);
    expect(await sealedBy(server)).toEqual({ current: 0, previous: 0, former: 0, unknown: 2 });
    const { token } = account;
    const refused = await call(server, 'GET', '/v1/account/profile', { token });
    expect(refusalOf(refused)).toEqual({ status: 503, code: 'unavailable' });
    await expect(logIn(server, makeDeviceKey())).rejects.toThrow('unavailable');
    expect((await call(server, 'GET', '/v1/features')).status).toBe(200);

    writeSecret(OLD);
    await waitFor('ready', async () => (await readiness(server)).status === 200);
    await server.logged(/"level":"info".*The master secret opens what the database holds/);
    await expectMarked(new AccountCalls(server, token));
    expect(await sealedBy(server)).toMatchObject({ current: 2, unknown: 0 });
    expect(server.logs().match(/The master secret is wrong/g)).toHaveLength(1);
    expect(server.logs()).not.toContain(WRONG);
    await server.stop();
  });

  it('reports a secret that was removed while values need it, and serves on', async () => {
    const server = await start();
    const account = await writeMarked(server);
    await server.stop();
    const again = await start(withFile(OLD));
    writeSecret(WRONG);
    await again.logged(/"level":"error".*A master secret was removed too early/);
    expect((await readiness(again)).status).toBe(200);
    expect(await sealedBy(again)).toEqual({ current: 0, previous: 0, former: 2, unknown: 0 });
    await expectMarked(new AccountCalls(again, account.token));
    await again.stop();
  });

  it('reports nothing where the old secret is removed right after a reseal', async () => {
    const first = await start();
    await writeMarked(first);
    await first.stop();
    const file = writeSecret(OLD);
    const env = { SERVICE_MASTER_SECRET: WRONG, SERVICE_MASTER_SECRET_PREVIOUS: OLD };
    const rotated = { SERVICE_MASTER_SECRET_PREVIOUS_FILE: file, METRICS_TOKEN: TOKEN };
    const server = await start({ SERVICE_MASTER_SECRET: WRONG, ...rotated });
    expect(await sealedBy(server)).toMatchObject({ current: 0, previous: 2 });
    expect((await reseal(env)).code).toBe(0);
    writeSecret('an-unrelated-master-secret-0123456789-0123456789');
    await waitFor('the change', async () => (await sealedBy(server))['previous'] === 0);
    await waitFor('the values', async () => (await sealedBy(server))['current'] === 2);
    expect(server.logs()).not.toContain('was removed too early');
    await server.stop();
  });

  it('serves where only a few values need a lost secret, until the runbook deletes them', async () => {
    const first = await start();
    await writeMarked(first);
    await first.stop();
    await rowsOf('UPDATE "account" SET "settings_content" = NULL, "settings_form" = NULL');
    const other = { SERVICE_MASTER_SECRET: WRONG, SERVICE_MASTER_SECRET_PREVIOUS: OLD };
    const second = await start(other);
    await writeMarked(second);
    await second.stop();
    const third = await start({ SERVICE_MASTER_SECRET: WRONG, METRICS_TOKEN: TOKEN });
    await third.logged(/"level":"error".*A master secret is missing: 1 stored values do not open/);
    expect((await readiness(third)).status).toBe(200);
    expect(await sealedBy(third)).toEqual({ current: 2, previous: 0, former: 0, unknown: 1 });
    const [, keyId = ''] = await third.logged(/stored values do not open \(key id (\w+)\)/);
    await third.stop();

    const [, statements = ''] = /^```sql\n(.*?)^```/ms.exec(runbooks) ?? [];
    await rowsOf(statements.replaceAll('1a2b3c4d', keyId));
    const fourth = await start({ SERVICE_MASTER_SECRET: WRONG, METRICS_TOKEN: TOKEN });
    expect(await sealedBy(fourth)).toEqual({ current: 2, previous: 0, former: 0, unknown: 0 });
    expect(fourth.logs()).not.toContain('"level":"error"');
    await fourth.stop();
  });
});
