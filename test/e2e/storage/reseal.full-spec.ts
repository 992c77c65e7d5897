import { logIn, makeDeviceKey } from '../../helpers/client.js';
import type { CliResult } from '../../fixtures/programs/cli-fixture.js';
import { AccountCalls, encrypted, plain } from '../../helpers/account-calls.js';
import {
  dump,
  expectMarked,
  MARKER,
  OLD,
  reseal,
  rowsOf,
  start,
  startReseal,
  UNSEALED,
  writeMarked,
} from '../../fixtures/sealed-content-fixture.js';

const NEW = 'the-new-master-secret-0123456789-0123456789';

/** Bytes 2 to 5 of a seal name its key. */
const KEY = (column: string): string => `substring("${column}" FROM 2 FOR 4)`;

async function keyOfFirst(): Promise<Buffer> {
  const rows = await rowsOf<{ key: Buffer }>(
    `SELECT ${KEY('content')} AS "key" FROM "account_credential" LIMIT 1`,
  );
  return rows[0]?.key ?? Buffer.alloc(0);
}

async function renewedOf(oldKey: Buffer): Promise<number> {
  const rows = await rowsOf<{ count: number }>(
    `SELECT ((SELECT count(*) FROM "account" WHERE ${KEY('settings_content')} <> $1) +
       (SELECT count(*) FROM "account_credential" WHERE ${KEY('content')} <> $1))::int AS "count"`,
    [oldKey],
  );
  return rows[0]?.count ?? 0;
}

async function untilRenewed(
  enough: number,
  oldKey: Buffer,
  { exitCode }: { readonly exitCode: () => number | null },
): Promise<void> {
  while (exitCode() === null && (await renewedOf(oldKey)) < enough) {
    await new Promise(setImmediate);
  }
}

const resultsOf = ({ stdout }: CliResult): unknown[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

describe('gatehouse reseal', () => {
  const ROTATED = { SERVICE_MASTER_SECRET: NEW, SERVICE_MASTER_SECRET_PREVIOUS: OLD };
  const ACCOUNTS = 60;

  it('renews every seal while a server runs, so that the old secret can be removed', async () => {
    const before = await start();
    const key = makeDeviceKey();
    const account = await writeMarked(before, key);
    await before.stop();
    const during = await start(ROTATED);
    const run = await reseal(ROTATED);
    expect(run.code).toBe(0);
    expect(resultsOf(run)).toEqual([
      { purpose: 'account-settings', renewed: 1, unreadable: 0, total: 1 },
      { purpose: 'account-credentials', renewed: 1, unreadable: 0, total: 1 },
      { purpose: 'identity-credentials', renewed: 0, unreadable: 0, total: 0 },
      { purpose: 'agent-request', renewed: 0, unreadable: 0, total: 0 },
      { purpose: 'program-grant', renewed: 0, unreadable: 0, total: 0 },
      { purpose: 'signing-key', renewed: 0, unreadable: 0, total: 0 },
    ]);
    await expectMarked(new AccountCalls(during, account.token));
    const idle = await reseal(ROTATED);
    expect(resultsOf(idle)).toMatchObject(Array(6).fill({ total: 0 }));
    await during.stop();
    const alone = await start({ SERVICE_MASTER_SECRET: NEW });
    const { token } = await logIn(alone, key);
    await expectMarked(new AccountCalls(alone, token));
    await alone.stop();
  });

  it('leaves every value readable at every moment, even when it is killed repeatedly', async () => {
    const before = await start();
    const accounts: AccountCalls[] = [];
    for (let made = 0; made < ACCOUNTS; made += 1) {
      accounts.push(await writeMarked(before));
    }
    await before.stop();
    const oldKey = await keyOfFirst();
    const server = await start(ROTATED);
    const callers = accounts.map(({ token }) => new AccountCalls(server, token));
    let isOver = false;
    let reads = 0;
    const reading = (async () => {
      while (!isOver) {
        for (const account of callers) {
          await expectMarked(account);
          reads += 1;
        }
      }
    })();
    // A locked row prevents each run from ending, however fast it is.
    await rowsOf('BEGIN');
    await rowsOf(
      `SELECT FROM "account_credential" WHERE "account_id" =
         (SELECT max("account_id"::text)::uuid FROM "account_credential") FOR UPDATE`,
    );
    for (const enough of [5, 40, 75]) {
      const { child, exited } = startReseal(ROTATED);
      await untilRenewed(enough, oldKey, { exitCode: () => child.exitCode });
      child.kill('SIGKILL');
      await exited;
      const renewed = await renewedOf(oldKey);
      expect(renewed).toBeGreaterThanOrEqual(enough);
      expect(renewed).toBeLessThan(2 * ACCOUNTS);
    }
    await rowsOf('ROLLBACK');
    const last = await reseal(ROTATED);
    isOver = true;
    await reading;
    expect(reads).toBeGreaterThan(0);
    expect(last.code).toBe(0);
    for (const account of callers) {
      await expectMarked(account);
    }
    expect(resultsOf(await reseal({ SERVICE_MASTER_SECRET: NEW }))).toMatchObject(
      Array(6).fill({ total: 0 }),
    );
    await server.stop();
  });

  it('keeps values that are written while it runs', async () => {
    const server = await start(ROTATED);
    const account = new AccountCalls(server, (await logIn(server)).token);
    const runs = Promise.all([reseal(ROTATED), reseal(ROTATED)]);
    for (let version = 0; version < 40; version += 1) {
      const { body } = await account.writeSettingsV2(plain({ version }), version);
      expect(body).toEqual({ success: true, version: version + 1 });
    }
    for (const { code } of await runs) {
      expect(code).toBe(0);
    }
    expect((await account.settingsV2()).body['content']).toEqual(plain({ version: 39 }));
    await server.stop();
  });

  it('seals stored plain values if the settings require it, and leaves what clients encrypted', async () => {
    const open = await start(UNSEALED);
    const account = await writeMarked(open);
    await open.stop();
    const sealing = await start({ SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE: 'e2ee' });
    const keyed = new AccountCalls(sealing, (await logIn(sealing)).token);
    await keyed.writeSettingsV2(encrypted('ZWUyZQ=='), 0);
    const run = await reseal({ SERVICE_MASTER_SECRET: OLD }, '--seal-plain');
    expect(run.code).toBe(0);
    expect(resultsOf(run)).toMatchObject([
      ...[{ renewed: 1 }, { renewed: 1 }],
      ...Array(4).fill({ renewed: 0 }),
    ]);
    expect(dump().includes(MARKER)).toBe(false);
    await expectMarked(new AccountCalls(sealing, account.token));
    expect((await keyed.settingsV2()).body['content']).toEqual(encrypted('ZWUyZQ=='));
    await sealing.stop();
  });

  it('reports values that no secret opens, and leaves them unchanged', async () => {
    const server = await start();
    const account = await writeMarked(server);
    const run = await reseal({ SERVICE_MASTER_SECRET: NEW });
    expect(run.code).toBe(1);
    expect(resultsOf(run)).toMatchObject([
      ...[{ unreadable: 1 }, { unreadable: 1 }],
      ...Array(4).fill({ total: 0 }),
    ]);
    expect(run.stderr).toContain('SERVICE_MASTER_SECRET_PREVIOUS');
    await expectMarked(account);
    await server.stop();
  });
});
