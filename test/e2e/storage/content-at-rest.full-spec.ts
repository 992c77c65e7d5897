import { AccountCalls, plain } from '../../helpers/account-calls.js';
import { refusalOf } from '../../helpers/client.js';
import {
  dump,
  expectMarked,
  MARKER,
  OLD,
  reseal,
  rowsOf,
  start,
  UNSEALED,
  writeMarked,
} from '../../fixtures/sealed-content-fixture.js';

describe('plain content at rest', () => {
  it('is not readable in a database where it is sealed', async () => {
    const server = await start();
    await expectMarked(await writeMarked(server));
    expect(dump().includes(MARKER)).toBe(false);
    await server.stop();
  });

  it('is read after the setting changed, and written under the new one', async () => {
    const sealed = await start();
    const account = await writeMarked(sealed);
    await sealed.stop();
    const open = await start(UNSEALED);
    const there = new AccountCalls(open, account.token);
    await expectMarked(there);
    await there.writeSettingsV2(plain(`${MARKER}-open`), 1);
    expect(dump().includes(`${MARKER}-open`)).toBe(true);
    await open.stop();
  });

  it('is refused while content is sealed, until the operator says that it is genuine', async () => {
    const open = await start(UNSEALED);
    const account = await writeMarked(open);
    await open.stop();
    const sealing = await start();
    const there = new AccountCalls(sealing, account.token);
    const REFUSED = { status: 409, code: 'migration-required' };
    expect(refusalOf(await there.settingsV2())).toEqual(REFUSED);
    expect(refusalOf(await there.credential('github'))).toEqual(REFUSED);
    await sealing.logged(/stored content is not sealed and was refused/);
    expect((await reseal({ SERVICE_MASTER_SECRET: OLD })).code).toBe(1);
    expect(refusalOf(await there.settingsV2())).toEqual(REFUSED);
    expect((await reseal({ SERVICE_MASTER_SECRET: OLD }, '--seal-plain')).code).toBe(0);
    await expectMarked(there);
    await sealing.stop();
  });

  it('is refused where a writer to the database put it in place of a seal', async () => {
    const server = await start();
    const account = await writeMarked(server);
    const forged = Buffer.from(JSON.stringify({ note: 'forged' }));
    await rowsOf(`UPDATE "account" SET "settings_form" = 'plain', "settings_content" = $1`, [
      forged,
    ]);
    await rowsOf(`UPDATE "account_credential" SET "form" = 'plain', "content" = $1`, [forged]);
    const answers = [await account.settingsV2(), await account.credential('github')];
    answers.push(await account.credentials());
    for (const answer of answers) {
      expect(refusalOf(answer)).toEqual({ status: 409, code: 'migration-required' });
      expect(answer.text).not.toContain('forged');
    }
    await account.putCredential('github', plain('again'));
    expect((await account.credential('github')).body['content']).toEqual(plain('again'));
    await server.stop();
  });
});
