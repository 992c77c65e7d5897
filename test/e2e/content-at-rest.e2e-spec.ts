import { AccountCalls, plain } from './account-calls.js';
import {
  dump,
  expectMarked,
  MARKER,
  rowsOf,
  start,
  UNSEALED,
  writeMarked,
} from './sealed-world.js';

describe('plain content at rest', () => {
  it('is nowhere in the database where it is sealed', async () => {
    const server = await start();
    await expectMarked(await writeMarked(server));
    expect(dump().includes(MARKER)).toBe(false);
    await server.stop();
  });

  it('is there where it is not sealed: so the search above would find it', async () => {
    const server = await start(UNSEALED);
    await expectMarked(await writeMarked(server));
    const found = dump();
    expect(found.includes(`${MARKER}-settings`)).toBe(true);
    expect(found.includes(`${MARKER}-credential`)).toBe(true);
    await server.stop();
  });

  it('does not open for another account, for another service or as another kind', async () => {
    const server = await start();
    const [one, two] = [await writeMarked(server), await writeMarked(server)];
    const ids = await Promise.all(
      [one, two].map(async (account) => (await account.profile()).body['id']),
    );
    await rowsOf(
      `UPDATE "account" SET "settings_content" =
         (SELECT "settings_content" FROM "account" WHERE "id" = $1) WHERE "id" = $2`,
      ids,
    );
    expect((await two.settingsV2()).status).toBe(500);
    await expectMarked(one);
    await rowsOf(
      `INSERT INTO "account_credential"
       SELECT "account_id", 'figma', "form", "content", "updated_at"
       FROM "account_credential" WHERE "account_id" = $1`,
      [ids[0]],
    );
    expect((await one.credential('figma')).status).toBe(500);
    await rowsOf(
      `UPDATE "account" SET "settings_content" = "content" FROM "account_credential"
       WHERE "account_id" = "id" AND "service" = 'github' AND "id" = $1`,
      [ids[0]],
    );
    const moved = await one.settingsV2();
    expect(moved.status).toBe(500);
    expect(moved.text).not.toContain(MARKER);
    await server.stop();
  });

  it('is read under the other setting, and written as the new one says', async () => {
    const sealed = await start();
    const account = await writeMarked(sealed);
    await sealed.stop();
    const open = await start(UNSEALED);
    const there = new AccountCalls(open, account.token);
    await expectMarked(there);
    await there.writeSettingsV2(plain(`${MARKER}-open`), 1);
    expect(dump().includes(`${MARKER}-open`)).toBe(true);
    await open.stop();
    const again = await start();
    const { content } = (await new AccountCalls(again, account.token).settingsV2()).body;
    expect(content).toEqual(plain(`${MARKER}-open`));
    await again.stop();
  });
});
