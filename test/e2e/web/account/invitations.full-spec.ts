import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { call } from '../../../helpers/client.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { freePort } from '../../../fixtures/programs/service-process.js';
import { accountId, saveNewKey, sees, seesSignIn } from '../account-page-acts.js';
import { act, openConsole, openSection } from '../admin-console-acts.js';
import { AdminTokensFile, adminUrlOf } from '../../../fixtures/admin-fixture.js';
import { PageScreenshots } from '../page-screenshots.js';

const tokens = await AdminTokensFile.create();
const screenshots = await PageScreenshots.open('admin-console');
const port = await freePort();
const server = await startServer({
  env: {
    ...tokens.env,
    PORT: String(port),
    SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false',
    AUTH_SIGNUP_INVITATIONS_ENABLED: 'true',
  },
});
const adminUrl = await adminUrlOf(server);
afterAll(() => server.stop());
const visit = useChromium();

inChromium('invitations, in the browser', () => {
  let visitor: Visitor;

  const invite = async (body: object): Promise<string> => {
    const token = tokens.operator;
    const answer = await call({ url: adminUrl }, 'POST', '/admin/v1/invitations', { token, body });
    expect(answer.status).toBe(200);
    return String(answer.body['code']);
  };

  async function create({ page }: Visitor, note: string, uses = '1'): Promise<void> {
    await page.getByRole('button', { name: 'New invitation…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Accounts that it can create').fill(uses);
    await dialog.getByLabel('Valid for').selectOption('30 days');
    await dialog.getByLabel('Note').fill(note);
    await dialog.getByRole('button', { name: 'Create the invitation' }).click();
    await dialog.waitFor({ state: 'hidden' });
  }

  const rowOf = ({ page }: Visitor, note: string) =>
    page.getByRole('listitem').filter({ has: page.getByText(note, { exact: true }) });

  it('creates an invitation in the console, whose link creates one account', async () => {
    visitor = await openConsole(visit, adminUrl, tokens.operator);
    const { page } = visitor;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await openSection(visitor, 'Invitations');
    await sees(visitor, 'No invitations yet');
    await create(visitor, 'the Garcia family');
    await sees(visitor, 'Its code is shown only now.');
    await page.getByRole('button', { name: 'Copy: Link' }).click();
    await page.getByRole('button', { name: 'Copied: Link' }).waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    const code = await page.getByText(/^(\w{4}-){4}\w{4}$/).innerText();
    expect(link).toBe(`${server.url}/app#invitation=${code}`);
    await screenshots.check(visitor, 'invitation-created');
    await visitor.press('I saved it');
    expect(await page.content()).not.toContain(code);

    const guest = await visit(link);
    await saveNewKey(guest);
    const id = await accountId(guest);
    await rowOf(visitor, 'the Garcia family').getByText('Used up').waitFor();
    await openSection(visitor, 'Audit trail');
    const used = page.getByRole('row', { name: /Invitation used/ });
    expect(await used.textContent()).toMatch(new RegExp(`alice[^]*${id.slice(0, 8)}`));
  });

  it('revokes an invitation with a reason, after which its code is refused', async () => {
    const code = await invite({ uses: 3, expiresInSeconds: 3600, note: 'sent to a wrong address' });
    visitor = await openConsole(visit, adminUrl, tokens.operator);
    await openSection(visitor, 'Invitations');
    const row = rowOf(visitor, 'sent to a wrong address');
    expect(await row.innerText()).toMatch(/Open[^]*0 of 3[^]*alice/);
    const button = 'Revoke the invitation: sent to a wrong address';
    await act(visitor, button, 'Revoke the invitation', 'wrong address');
    await row.getByText('Revoked', { exact: true }).waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
    const guest = await visit(`${server.url}/app#invitation=${code}`);
    await guest.page.getByLabel('I saved the key').check();
    await guest.press('Create the account');
    await sees(guest, 'This invitation is not valid');
  });

  it('shows invitations to a reader without actions, in German', async () => {
    await invite({ uses: 12, expiresInSeconds: 60 * 86_400, note: 'Rowing club, members of 2026' });
    await invite({ uses: 1, expiresInSeconds: 3600 });
    visitor = await openConsole(visit, adminUrl, tokens.reader);
    await openSection(visitor, 'Invitations');
    await sees(visitor, 'Rowing club, members of 2026');
    const { page } = visitor;
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    await screenshots.check(visitor, 'invitations-reader');
    await page.getByLabel('Language').selectOption('Deutsch');
    await page.getByRole('heading', { name: 'Einladungen' }).waitFor();
    await page.getByText('0 von 12 verwendet').waitFor();
    await visitor.close();

    visitor = await openConsole(visit, adminUrl, tokens.operator);
    await visitor.page.getByLabel('Language').selectOption('Deutsch');
    await visitor.page.goto(`${adminUrl}/admin/#invitations`);
    await sees(visitor, 'Ohne Notiz');
    await screenshots.check(visitor, 'invitations-de');
    await visitor.press('Neue Einladung …');
    await screenshots.check(visitor, 'invitation-new-de');
    await visitor.press('Abbrechen');
    await visitor.page
      .getByRole('button', { name: /^Einladung widerrufen: / })
      .first()
      .click();
    await screenshots.check(visitor, 'invitation-revoke-de');
  });

  it('fills in the code of the link, which leaves the address bar at once and reaches no log', async () => {
    const code = await invite({ uses: 1, expiresInSeconds: 3600 });
    const link = `#invitation=${code}`;
    visitor = await visit(`${server.url}/app`);
    const { page } = visitor;
    const field = page.getByLabel('Invitation code');
    await visitor.press('Create an account');
    await field.fill('0000-0000-0000-0000-0000');
    await page.getByLabel('I saved the key').check();
    await visitor.press('Create the account');
    await sees(visitor, 'This invitation is not valid');

    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
    await page.goto('about:blank');
    await page.goto(`${server.url}/app${link}`);
    await field.waitFor();
    expect(await field.inputValue()).toBe(code);
    expect(page.url()).not.toContain(code);
    expect(sent.join()).not.toContain(code);
    await screenshots.check(visitor, '../account-page/invited');
    await field.fill(code.toLowerCase().replaceAll('-', ' '));
    await saveNewKey(visitor);

    // The link is opened in a tab that shows an account, and in the same tab without one.
    const follow = () => page.evaluate(`location.hash = ${JSON.stringify(link)}`);
    await follow();
    await sees(visitor, 'You opened an invitation, and are signed in already');
    expect(page.url()).not.toContain(code);
    await visitor.press('Sign out');
    await seesSignIn(visitor);
    await follow();
    await field.waitFor();
    expect(await field.inputValue()).toBe(code);
    expect(server.logs().replaceAll('-', '')).not.toContain(code.replaceAll('-', ''));
  });
});
