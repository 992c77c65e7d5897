import { AdminTokensFile, adminUrlOf } from '../../../fixtures/admin-fixture.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { createCliUser } from '../../../fixtures/programs/cli-fixture.js';
import { startLoginFixture } from '../../../fixtures/provider-login-fixture.js';
import { OPTIONAL } from '../../../helpers/keyless-calls.js';
import { accountId, open, saveNewKey, sees } from '../account-page-acts.js';
import { acceptAccount, takeWords } from '../device-acts.js';

const tokens = await AdminTokensFile.create();
const fixture = await startLoginFixture({
  env: {
    ...OPTIONAL,
    ...tokens.env,
    SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: '',
    AUTH_SIGNUP_PROVIDERS: 'okta',
  },
});
const administrator = await createCliUser();
afterAll(() => fixture.stop());
const visit = useChromium();

async function signInThroughProvider({ page, press }: Visitor, person: string): Promise<void> {
  await press('Continue with The okta provider');
  await page.waitForURL(`${fixture.oidc.issuer}/**`);
  await page.locator('input[name=login]').fill(person);
  await page.locator('input[name=password]').fill('any password');
  await page.locator('button[type=submit]').click();
}

/** Creates the account of the person with a key, in a browser of its own. */
async function signUp(person: string): Promise<Visitor> {
  const browser = await visit(`${fixture.server.url}/app`);
  await signInThroughProvider(browser, person);
  await browser.press(/End-to-end encrypted/);
  await saveNewKey(browser);
  return browser;
}

/** Signs in with a second browser, which has no key. */
async function signInAgain(person: string): Promise<Visitor> {
  const browser = await visit(`${fixture.server.url}/app`);
  await signInThroughProvider(browser, person);
  await sees(browser, 'Open your account in this browser');
  await sees(browser, `You signed in through The okta provider as ${person}.`);
  return browser;
}

inChromium('a person whose browser has no key', () => {
  it('creates a new account after an administrator deleted that of the lost key', async () => {
    const first = await signUp('anna');
    const lost = await accountId(first);
    const browser = await signInAgain('anna');
    await browser.page.getByText('I lost my key').click();
    await sees(browser, 'An administrator of this server can then delete the account');
    await sees(browser, 'Name the account of The okta provider');

    const adminUrl = await adminUrlOf(fixture.server);
    const gatehouse = (...args: string[]) =>
      administrator.run([...args, '--admin-url', adminUrl, '--json'], {
        GATEHOUSE_ADMIN_TOKEN: tokens.operator,
      });
    const { stdout } = await gatehouse('account', 'find', 'anna');
    expect(JSON.parse(stdout)).toMatchObject({ id: lost });
    for (const act of ['revoke', 'delete']) {
      const { code } = await gatehouse('account', act, lost, '--reason', 'lost the device key');
      expect({ act, code }).toEqual({ act, code: 0 });
    }

    await browser.press('Cancel');
    // The provider still has the person's session.
    await browser.press('Continue with The okta provider');
    await browser.press(/End-to-end encrypted/);
    await saveNewKey(browser);
    expect(await accountId(browser)).not.toBe(lost);
  });

  it('signs in with the approval of a device that is signed in', async () => {
    const first = await signUp('berta');
    const phone = await signInAgain('berta');
    await phone.press('Use a signed-in device');
    const code = await phone.page.locator('.words.big').innerText();
    await open(first, 'Devices and sessions');
    await first.press('Add a device…');
    await first.page.getByLabel('Code that the new device shows').fill(code);
    await first.press('Continue');
    await first.page.getByLabel('The new device shows the same words').check();
    await first.press('Add the device');
    await acceptAccount(phone, await takeWords(first));
    await phone.page.getByRole('heading', { name: 'Your account' }).waitFor();
    await open(first, 'Overview');
    expect(await accountId(phone)).toBe(await accountId(first));
  });
});
