import { hostname } from 'node:os';
import { deviceKeyWords, readDeviceLink } from '../../../../src/packages/client/index.js';
import { readQr } from '../../../fixtures/camera-fixture.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { createCliUser, type CliUser } from '../../../fixtures/programs/cli-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import {
  accountId as accountIdIn,
  createAccount as createIn,
  open as openSection,
  seesAccount,
  seesSignIn,
} from '../account-page-acts.js';
import { acceptAccount, approveCode, beginLogin, finishLogin, takeWords } from '../device-acts.js';
import {
  BEHIND_PROXY,
  DeviceCalls,
  makeX25519Key,
  newAddress,
} from '../../../helpers/device-calls.js';
import { startLoginFixture, type LoginFixture } from '../../../fixtures/provider-login-fixture.js';
import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import { OPTIONAL } from '../../../helpers/keyless-calls.js';

let server: Server;
let visitor: Visitor;
let machine: CliUser;

const visit = useChromium();

const begin = (url: string, ...flags: string[]) => beginLogin(machine, url, ...flags);

/** A person with an address of their own: look-ups are limited by address. */
async function open(url: string): Promise<Visitor> {
  const visitor = await visit('about:blank');
  await visitor.page.setExtraHTTPHeaders({ 'x-forwarded-for': newAddress() });
  await visitor.page.goto(url);
  return visitor;
}

const sees = (words: string | RegExp) => visitor.page.getByText(words).first().waitFor();
const enterKey = (key: string) => visitor.page.getByLabel('Device key', { exact: true }).fill(key);
const accountId = () => accountIdIn(visitor);

async function createAccount(): Promise<{ readonly key: string; readonly id: string }> {
  const key = await createIn(visitor);
  return { key, id: await accountId() };
}

async function enterCode(code: string): Promise<void> {
  await visitor.page.getByLabel('Code that the new device shows').fill(code);
  await visitor.press('Continue');
}

beforeEach(async () => {
  machine = await createCliUser();
});

inChromium('/app/device', () => {
  beforeAll(async () => {
    server = await startServer({ env: BEHIND_PROXY });
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    visitor = await open(`${server.url}/app`);
  });

  it('adds the device of a link, with the key, only after its owner agrees', async () => {
    const { key, id } = await createAccount();
    const { cli, link, checkWords, userCode } = await begin(server.url);
    await visitor.page.setViewportSize({ width: 320, height: 700 });
    await visitor.page.goto(link);
    await sees(userCode);
    expect(await visitor.text()).not.toContain(checkWords.join(' '));
    expect(visitor.page.url()).toBe(`${server.url}/app/`);
    const spill = await visitor.page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(spill).toBeLessThanOrEqual(0);
    await enterKey(key);
    await visitor.press('Add the device');
    expect(cli.child.exitCode).toBeNull();
    await visitor.page.getByLabel('I started this myself').check();
    // The page is in the background: it continues with a new session, and soon receives the end of
    // the former one.
    await visitor.page.evaluate('window.requestAnimationFrame = () => 0');
    await visitor.press('Add the device');
    await sees('The device is added.');
    expect(await finishLogin(cli, null)).toBe(id);
    expect((await machine.run(['key', 'show'])).stdout.trim()).toBe(key);
    await visitor.page.reload();
    await openSection(visitor, 'Devices and sessions');
    await visitor.page.locator('li', { hasText: hostname() }).waitFor();
  });

  it('asks for the sign-in, then for the code, and shows the check words', async () => {
    const { key, id } = await createAccount();
    await visitor.press('Sign out');
    await sees('You are signed out.');
    const { cli, userCode, checkWords } = await begin(server.url);
    await visitor.page.goto(`${server.url}/app/device`);
    await sees('Sign in to the account');
    await enterKey(key);
    await visitor.press('Sign in');
    await enterCode(userCode.toLowerCase().replace('-', ''));
    await sees(checkWords.join(' '));
    // The sign-in left the key in the memory of the tab.
    expect(await visitor.page.getByLabel('Device key', { exact: true }).count()).toBe(0);
    await visitor.page.getByLabel('The new device shows the same words').check();
    await visitor.press('Add the device');
    const words = await takeWords(visitor);
    expect(checkWords.join(' ')).not.toContain(words);
    await openSection(visitor, 'Devices and sessions');
    expect(await finishLogin(cli, words)).toBe(id);
    await visitor.page.locator('li', { hasText: hostname() }).waitFor();
  });

  it('refuses the key of another account, and then the device', async () => {
    const { key } = await createAccount();
    await visitor.press('Sign out');
    await createAccount();
    const { cli, link } = await begin(server.url);
    await visitor.page.goto(link);
    await enterKey(key);
    await visitor.page.getByRole('checkbox').check();
    await visitor.press('Add the device');
    await sees('This is not the device key of this account.');
    await visitor.press('Refuse the device');
    await sees('The device was refused.');
    const { code, stderr } = await cli.exited;
    expect(code).toBe(1);
    expect(stderr).toContain('"code":"device-refused"');
    await seesAccount(visitor);
  });

  it('refuses a link whose key the server replaced, and shows the check words of the new key', async () => {
    await createAccount();
    const { cli, link, userCode, checkWords } = await begin(server.url);
    const publicKey = makeX25519Key();
    await visitor.page.route('**/v2/auth/devices/*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), publicKey } });
    });
    await visitor.page.goto(link);
    await sees('The server returned another key');
    expect(await visitor.text()).not.toContain('Add the device');
    await openSection(visitor, 'Devices and sessions');
    await visitor.press('Add a device…');
    await enterCode(userCode);
    await sees(deviceKeyWords({ publicKey, origins: [] }).join(' '));
    expect(await visitor.text()).not.toContain(checkWords.join(' '));
    cli.child.kill('SIGINT');
    await cli.exited;
  });

  it('reports a damaged link, an unknown code and an invalid one', async () => {
    await createAccount();
    await visitor.page.goto(`${server.url}/app/device#WDJB-MJHT.${makeX25519Key()}`);
    await sees('This link is of an older version');
    await visitor.page.goto(`${server.url}/app/device#WDJB-MJHT.short`);
    await sees('This link is damaged.');
    await enterCode('ADJB-MJHT');
    await sees('A code has eight letters');
    await enterCode('BBBB-BBBB');
    await sees('No device waits with this code.');
    const field = visitor.page.getByLabel('Code that the new device shows');
    expect(await field.inputValue()).toBe('BBBB-BBBB');
    const { userCode } = await new DeviceCalls(server).newDevice();
    await enterCode(userCode);
    await sees('The new device must show these words:');
    expect(await visitor.text()).not.toContain('No device waits');
    await visitor.press('Cancel');
    await seesAccount(visitor);
  });

  it.each(['code', 'link'])('adds a device by its %s where the answer was lost', async (way) => {
    const { key, id } = await createAccount();
    await visitor.press('Sign out');
    const { page } = visitor;
    const { cli, userCode, link } = await begin(server.url);
    await page.goto(way === 'link' ? link : `${server.url}/app/device`);
    await enterKey(key);
    await visitor.press('Sign in');
    if (way === 'code') {
      await enterCode(userCode);
    }
    // The form of the sign-in has a checkbox, too.
    const consent =
      way === 'link' ? 'I started this myself' : 'The new device shows the same words';
    await page.getByLabel(consent).check();
    await page.route('**/v2/auth/devices/*/approve', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await visitor.press('Add the device');
    await sees('The server does not answer.');
    await page.unroute('**/v2/auth/devices/*/approve');
    await visitor.press('Add the device');
    if (way === 'link') {
      await sees('If the new device asks whose account it is, it is added.');
    }
    expect(await finishLogin(cli, way === 'link' ? null : await takeWords(visitor))).toBe(id);
  });

  it('signs this browser in by the QR code that it shows', async () => {
    const owner = await createCliUser();
    const signedUp = await owner.run(['signup', '--server', server.url, '--json']);
    const { accountId: id } = JSON.parse(signedUp.stdout) as { accountId: string };
    await visitor.press('Use a signed-in device');
    const link = await readQr(visitor.page.getByRole('img', { name: 'QR code' }));
    const publicKey = readDeviceLink(link)?.publicKey ?? '';
    const words = deviceKeyWords({ publicKey, origins: [] }).join(' ');
    await visitor.page.getByText(words, { exact: true }).waitFor();
    expect((await owner.run(['devices', 'approve', link, '--yes'])).code).toBe(0);
    await sees('Is this your account?');
    const before = await visitor.page.evaluate('JSON.stringify([sessionStorage, localStorage])');
    expect(String(before)).not.toContain(id);
    await acceptAccount(visitor, null);
    await seesAccount(visitor);
    expect(await accountId()).toBe(id);
    const stored = await visitor.page.evaluate('JSON.stringify(sessionStorage)');
    expect(Object.keys(JSON.parse(String(stored)) as object)).toEqual(['gatehouse.session']);
  });

  it('signs this browser in by a typed code, and only to an account that the person accepts', async () => {
    const owner = await createCliUser();
    const signedUp = await owner.run(['signup', '--server', server.url, '--json']);
    const { accountId: id } = JSON.parse(signedUp.stdout) as { accountId: string };
    const shownCode = async () => {
      await visitor.press('Use a signed-in device');
      return visitor.page.getByText(/^[B-Z]{4}-[B-Z]{4}$/).innerText();
    };
    await approveCode(owner, await shownCode());
    await visitor.page.getByLabel('The first three words').fill('abandon ability able');
    await visitor.press('Continue');
    await sees('These are not the words');
    await seesSignIn(visitor);
    const words = await approveCode(owner, await shownCode());
    await visitor.page.getByLabel('The first three words').fill(words);
    await visitor.press('Continue');
    await sees(id);
    await visitor.press('No');
    await seesSignIn(visitor);
    await acceptAccount(visitor, await approveCode(owner, await shownCode()));
    await seesAccount(visitor);
    const who = await owner.run(['whoami', '--json']);
    expect(who.code).toBe(0);
    await openSection(visitor, 'Devices and sessions');
    // The refused sessions have ended: there is that of the computer, of its approval, and this one.
    const approved = visitor.page.getByText('approved on another device');
    await waitFor('one approved session', async () => (await approved.count()) === 1);
  });

  it('ends the session that it received when the page is reloaded before it is accepted', async () => {
    const owner = await createCliUser();
    await owner.run(['signup', '--server', server.url]);
    const { page } = visitor;
    await visitor.press('Use a signed-in device');
    const code = await page.getByText(/^[B-Z]{4}-[B-Z]{4}$/).innerText();
    let token: string | undefined;
    await page.route('**/v2/auth/devices/*/token', async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { token?: string };
      token ??= answer.token;
      await route.fulfill({ response });
    });
    await approveCode(owner, code);
    await page.getByLabel('The first three words').waitFor();
    const profile = () => call(server, 'GET', '/v1/account/profile', { token });
    expect((await profile()).status).toBe(200);
    await page.reload();
    await waitFor('its end', async () => (await profile()).body['code'] === 'token-revoked');
  });

  it('reports that its own sign-in was refused, and stays signed out', async () => {
    const owner = await createCliUser();
    await owner.run(['signup', '--server', server.url]);
    await visitor.press('Use a signed-in device');
    const code = await visitor.page.getByText(/^[B-Z]{4}-[B-Z]{4}$/).innerText();
    expect((await owner.run(['devices', 'refuse', code])).code).toBe(0);
    await sees('This device was refused');
    await seesSignIn(visitor);
  });
});

inChromium('/app/device, for an account of a provider', () => {
  let fixture: LoginFixture;

  beforeAll(async () => {
    const env = { ...OPTIONAL, ...BEHIND_PROXY, SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: '' };
    fixture = await startLoginFixture({ env });
  });
  afterAll(() => fixture.stop());

  it('logs in a machine without a browser, with the session alone', async () => {
    const { cli, link } = await begin(fixture.server.url, '--provider', 'okta');
    visitor = await open(link);
    await visitor.press('Continue with The okta provider');
    await visitor.page.waitForURL(`${fixture.oidc.issuer}/**`);
    await visitor.page.locator('input[name=login]').fill('anna');
    await visitor.page.locator('input[name=password]').fill('any password');
    await visitor.page.locator('button[type=submit]').click();
    await visitor.press(/Readable by the server/);
    await visitor.page.getByLabel('I started this myself').check();
    await visitor.press('Add the device');
    await sees('The device is added.');
    await seesAccount(visitor);
    expect(await finishLogin(cli, null)).toBe(await accountId());
    const who = JSON.parse((await machine.run(['whoami', '--json'])).stdout) as object;
    expect(who).toMatchObject({ keyMode: 'keyless', identities: [{ provider: 'okta' }] });
  });
});
