import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../../fixtures/admin-fixture.js';
import { inChromium, useChromium } from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { logIn } from '../../../helpers/client.js';
import { BLOCKED_STORAGE, sees } from '../account-page-acts.js';
import { openConsole, openSection, seesTitle, signInWith } from '../admin-console-acts.js';

const tokens = await AdminTokensFile.create();
const server = await startServer({
  env: {
    ...tokens.env,
    AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true',
    AUTH_SIGNUP_INVITATIONS_ENABLED: 'true',
  },
});
const url = await adminUrlOf(server);
const operator = new AdminCalls(url, tokens.operator);
afterAll(() => server.stop());
const visit = useChromium();

inChromium('a question of the console', () => {
  it('stays the one that was asked when another administrator changes the account', async () => {
    const { accountId } = await logIn(server);
    const visitor = await openConsole(visit, url, tokens.operator);
    await visitor.page.goto(`${url}/admin/#accounts/${accountId}`);
    await visitor.press('Disable…');
    await visitor.page.getByLabel('Reason').fill('left the company');
    await operator.act(accountId, 'disable', 'by another administrator');
    await sees(visitor, 'Refused: an administrator disabled this account');
    await visitor.page.getByLabel('Reason').press('Enter');
    await sees(visitor, 'Nothing changed: it was so already.');
    expect((await operator.get(`/accounts/${accountId}`)).body['state']).toBe('disabled');
  });

  it('is not answered by the Enter that opened it', async () => {
    const visitor = await openConsole(visit, url, tokens.operator);
    const { page } = visitor;
    await openSection(visitor, 'Invitations');
    await seesTitle(visitor, 'Invitations');
    await page.getByRole('button', { name: 'New invitation…' }).focus();
    await page.keyboard.down('Enter');
    await page.getByRole('dialog').getByLabel('Accounts that it can create').waitFor();
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.getByRole('dialog').getByLabel('Note').fill('the only one');
    await page.getByRole('dialog').getByLabel('Note').press('Enter');
    await sees(visitor, 'Its code is shown only now.');
    const listed = await operator.get('/invitations');
    expect(listed.body['invitations']).toEqual([expect.objectContaining({ note: 'the only one' })]);
  });
});

inChromium('the console', () => {
  it('says that the browser blocks the storage of the console', async () => {
    const blocked = await visit('about:blank', {});
    await blocked.page.addInitScript(BLOCKED_STORAGE);
    await blocked.page.goto(`${url}/admin/`);
    await sees(blocked, 'Allow cookies and site data for this address');
    await blocked.page.getByLabel('Language').selectOption('Deutsch');
    await sees(blocked, 'Erlauben Sie für diese Adresse Cookies');
  });

  it('is shown as soon as the server answers after an outage', async () => {
    const visitor = await openConsole(visit, url, tokens.operator);
    const { page } = visitor;
    await page.route('**/admin/v1/me', (route) => route.abort());
    await page.reload();
    await sees(visitor, 'The server does not answer.');
    await page.unroute('**/admin/v1/me');
    await seesTitle(visitor, 'Overview');
  });

  it('marks its section and a pressed button in the colours of a high-contrast theme', async () => {
    const { page } = await openConsole(visit, url, tokens.operator);
    await page.emulateMedia({ forcedColors: 'active' });
    const colour = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).color`);
    expect(await colour('nav [aria-current]')).not.toBe(await colour('nav a:not([aria-current])'));
    await page.getByRole('button', { name: '24 hours' }).waitFor();
    expect(await colour('[aria-pressed=true]')).not.toBe(await colour('[aria-pressed=false]'));
  });

  it('shows events on the first screen of a phone, below a closed filter', async () => {
    await logIn(server);
    const visitor = await visit(url, { viewport: { width: 390, height: 844 } });
    await signInWith(visitor, tokens.reader);
    await openSection(visitor, 'Audit trail');
    const { page } = visitor;
    const event = page.locator('tbody tr').first();
    await event.waitFor();
    const { y = 0, height = 0 } = (await event.boundingBox()) ?? {};
    expect(y + height).toBeLessThanOrEqual(844);
    await page.locator('summary', { hasText: 'Filter' }).press('Enter');
    await page.getByLabel('Event', { exact: true }).selectOption('Account deleted');
    await visitor.press('Filter');
    await sees(visitor, 'Filter (1)');
    await sees(visitor, 'No event matches the filter');
    expect(await page.getByLabel('Event', { exact: true }).isVisible()).toBe(false);
  });

  it('names once the field that the server refuses', async () => {
    const visitor = await openConsole(visit, url, tokens.operator);
    await visitor.page.goto(`${url}/admin/#audit?accountId=x`);
    await sees(visitor, 'The server did not accept what was entered. accountId must be a UUID.');
  });
});
