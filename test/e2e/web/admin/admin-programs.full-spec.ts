import { decodeJwt } from 'jose';
import { AdminTokensFile, adminUrlOf } from '../../../fixtures/admin-fixture.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import {
  CURSOR,
  grantedCode,
  newVerifier,
  PROGRAM_ENV,
  PROGRAMS,
  programsOf,
  programTokens,
  redeem,
} from '../../../fixtures/programs-fixture.js';
import { backends } from '../../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../../fixtures/sessions-fixture.js';
import { makeDeviceKey } from '../../../helpers/client.js';
import { sees } from '../account-page-acts.js';
import { act, openConsole } from '../admin-console-acts.js';
import { PageScreenshots } from '../page-screenshots.js';

const setup = backends([{ id: 'notes', name: 'Notes', programs: PROGRAMS }]);
const tokens = await AdminTokensFile.create();
const server = await startServer({ env: { ...setup.env, ...PROGRAM_ENV, ...tokens.env } });
const url = await adminUrlOf(server);
const screenshots = await PageScreenshots.open('console-programs');
afterAll(() => server.stop());
const visit = useChromium();

inChromium('the programs of an account in the console', () => {
  const both = 'notes:read notes:write';

  /** Two approvals of one program, and one of another. */
  async function person(): Promise<string> {
    const token = await tokenOf(server, makeDeviceKey());
    await programTokens(server, token);
    await programTokens(server, token, {
      request: { scope: both },
      approval: { scopes: both.split(' ') },
    });
    const verifier = newVerifier();
    const [redirectUri = ''] = CURSOR.redirectUris;
    const of = { client_id: CURSOR.id, redirect_uri: redirectUri };
    const approval = { clientId: CURSOR.id, redirectUri };
    await redeem(
      server,
      await grantedCode(server, token, verifier, { request: of, approval }),
      verifier,
      of,
    );
    return token;
  }

  async function openPrograms(token: string, by: string): Promise<Visitor> {
    const visitor = await openConsole(visit, url, by);
    await visitor.page.goto(`${url}/admin/#accounts/${String(decodeJwt(token).sub)}`);
    await visitor.page.getByRole('heading', { name: 'Programs', exact: true }).waitFor();
    return visitor;
  }

  it('groups approvals by program, and ends one, those of a program, and all', async () => {
    const token = await person();
    const visitor = await openPrograms(token, tokens.operator);
    const { page } = visitor;
    for (const name of ['Inspector', 'Cursor']) {
      await page.getByRole('heading', { name, exact: true, level: 3 }).waitFor();
    }
    await sees(visitor, 'on the computer of the person');
    await sees(visitor, 'the app of cursor: links');
    await sees(visitor, /Read your notes.*Change your notes/);
    await sees(visitor, /^Notes: programs act for the person there/);
    await screenshots.check(visitor, 'account');

    const one = 'End the access of Inspector at Notes';
    await page.getByRole('button', { name: one, exact: true }).first().click();
    await page.getByRole('dialog').getByLabel('Reason').fill('not needed');
    await page.getByRole('dialog').getByRole('button', { name: 'End the access' }).click();
    await sees(visitor, 'The access has ended.');
    expect(await programsOf(server, token)).toHaveLength(2);

    await act(visitor, 'End all…', 'End all access', 'a lost laptop');
    await sees(visitor, 'All of this access has ended.');
    await sees(visitor, 'No program may act for this person.');
    expect(await programsOf(server, token)).toEqual([]);
    await sees(visitor, /a lost laptop/);

    const other = await person();
    const again = await openPrograms(other, tokens.operator);
    await act(again, 'End all access of Inspector', 'End all access', 'replaced');
    await sees(again, 'All of this access has ended.');
    expect(await programsOf(server, other)).toMatchObject([{ client: { id: CURSOR.id } }]);
  });

  it('shows them to a reader, in German, without actions', async () => {
    const visitor = await openPrograms(await person(), tokens.reader);
    await visitor.page.getByLabel('Language').selectOption('Deutsch');
    await sees(visitor, 'auf dem Computer der Person');
    await screenshots.check(visitor, 'account-de');
    expect(await visitor.page.getByRole('button', { name: /beenden…/i }).count()).toBe(0);
  });
});
