import { randomBytes } from 'node:crypto';
import { formatDeviceKey } from '../../../../src/packages/client/crypto/key-text.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { call } from '../../../helpers/client.js';
import {
  accountId,
  enterKey,
  open,
  saveNewKey,
  sees as seesIn,
  seesSignIn,
  tokenOf,
} from '../account-page-acts.js';
import { startLoginFixture, type LoginFixture } from '../../../fixtures/provider-login-fixture.js';
import { OPTIONAL } from '../../../helpers/keyless-calls.js';

const HERE = { SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: '' };
const REQUIRED = { ...HERE, SERVICE_PRESET: 'public-provider-required' };
const NEEDED = {
  ...REQUIRED,
  AUTH_SIGNUP_PROVIDERS: 'okta',
  AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta',
};

const visit = useChromium();
let fixture: LoginFixture;
let visitor: Visitor;

const sees = (words: string | RegExp) => seesIn(visitor, words);
const account = () => accountId(visitor);
const makeKey = () => saveNewKey(visitor);
const useKey = (key: string) => enterKey(visitor, key);
const token = () => tokenOf(visitor);

async function atProvider(person: string): Promise<void> {
  await visitor.page.waitForURL(`${fixture.oidc.issuer}/**`);
  await visitor.page.locator('input[name=login]').fill(person);
  await visitor.page.locator('input[name=password]').fill('any password');
  await visitor.page.locator('button[type=submit]').click();
}

async function through(person: string): Promise<void> {
  await visitor.press('Continue with The okta provider');
  await atProvider(person);
}

/** Opens a browser without cookies of this server or the provider. */
async function openPage(): Promise<void> {
  visitor = await visit(`${fixture.server.url}/app`);
}

inChromium('the account page, on a server with both kinds of account', () => {
  beforeAll(async () => {
    fixture = await startLoginFixture({
      env: { ...OPTIONAL, ...HERE, AUTH_SIGNUP_PROVIDERS: 'okta' },
    });
  });
  afterAll(() => fixture.stop());
  beforeEach(openPage);

  it('asks a new person for the kind of account only once', async () => {
    await through('anna');
    await visitor.press(/Readable by the server/);
    await sees('Your account is ready.');
    await sees('Readable by the server');
    expect(visitor.page.url()).toBe(`${fixture.server.url}/app/`);
    const number = await account();
    await visitor.close();
    await openPage();
    await through('anna');
    await sees('Readable by the server');
    expect(await account()).toBe(number);
  });

  it('offers no button to disconnect the only way to sign in', async () => {
    await through('carla');
    await visitor.press(/Readable by the server/);
    await sees('Your account is ready.');
    await open(visitor, 'Security');
    await sees('Your only way to sign in.');
    expect(await visitor.page.getByRole('button', { name: /^Disconnect/ }).count()).toBe(0);
  });

  it('says before it disconnects a provider that devices are signed out with it', async () => {
    await through('emil');
    await visitor.press(/Readable by the server/);
    await sees('Your account is ready.');
    await open(visitor, 'Security');
    await visitor.press('Connect The acme provider');
    await sees('The acme provider is connected.');
    await open(visitor, 'Security');
    await visitor.press('Disconnect The acme provider');
    await sees('Devices that signed in with it are signed out, this one too if it did.');
    await visitor.press('Disconnect');
    await sees('The acme provider is disconnected.');
  });

  it('creates an encrypted account with a key, and asks for that key again', async () => {
    await through('berta');
    await visitor.press(/End-to-end encrypted/);
    const key = await makeKey();
    await sees('End-to-end encrypted');
    const number = await account();
    await visitor.close();
    await openPage();
    await through('berta');
    await sees('Open your account in this browser');
    await useKey(formatDeviceKey(randomBytes(32)));
    await sees('This key has no account on this server.');
    await useKey(key);
    await sees('End-to-end encrypted');
    expect(await account()).toBe(number);
  });

  it('shows why a person is refused and who can help, and allows a new sign-in', async () => {
    await through('out-carl');
    await sees('the policy of this server does not admit you');
    await sees('The operator of this server.');
    await seesSignIn(visitor);
  });

  it('cancels a pending sign-in', async () => {
    await through('dora');
    await visitor.press(/End-to-end encrypted/);
    const given = visitor.page.waitForRequest((request) => request.method() === 'DELETE');
    await visitor.press('Cancel');
    expect((await (await given).response())?.status()).toBe(200);
    await seesSignIn(visitor);
  });

  it('refuses to finish a login that another tab began', async () => {
    const stray = new URL('/app/oauth/okta', fixture.server.url);
    const query = {
      flow: 'auth',
      pending: 'of-another-account',
      accountMode: 'plain',
      mode: 'keyless',
    };
    stray.search = new URLSearchParams(query).toString();
    await visitor.page.goto(stray.href);
    await sees('This was started in another tab');
    expect(visitor.page.url()).toBe(`${fixture.server.url}/app/`);
  });

  it.each(['constructor', '__proto__', 'something_new'])(
    'shows the code of a refusal without a text: %s',
    async (error) => {
      await visitor.page.goto(`${fixture.server.url}/app/oauth/okta?flow=auth&error=${error}`);
      await sees(`This sign-in was refused (${error}).`);
    },
  );

  it('shows no text of a link in place of a code', async () => {
    const error = 'Your account is locked. Call +49 30 123456';
    const search = new URLSearchParams({ flow: 'auth', error });
    await visitor.page.goto(`${fixture.server.url}/app/oauth/okta?${search}`);
    await sees('This sign-in was refused (unknown).');
    expect(await visitor.text()).not.toContain('locked');
  });

  it('refuses to finish a link that another tab began', async () => {
    await visitor.page.goto(`${fixture.server.url}/app/oauth/okta?flow=connect&pending=x`);
    await sees('This was started in another tab');
  });

  it.each(['?flow=auth&error=%3Cimg%20src%3Dx%3E', '?flow=auth', ''])(
    'shows parameters of the address as text: %j',
    async (search) => {
      await visitor.page.goto(`${fixture.server.url}/app/oauth/okta${search}`);
      await seesSignIn(visitor);
      expect(await visitor.page.locator('img').count()).toBe(0);
    },
  );
});

inChromium('the account page, where a provider is required', () => {
  beforeAll(async () => {
    fixture = await startLoginFixture({ env: NEEDED });
  });
  afterAll(() => fixture.stop());
  beforeEach(openPage);

  it('creates an account through a required provider, loses access without it and regains it', async () => {
    await through('anna');
    await makeKey();
    await open(visitor, 'Security');
    await sees('Confirmed');
    await sees(/Next check in/);
    await visitor.press('Disconnect The okta provider');
    await visitor.press('Disconnect');
    await sees('Required by this server');
    await sees('Connect The okta provider to continue.');
    const mine = { token: await token() };
    expect((await call(fixture.server, 'GET', '/v1/push-tokens', mine)).status).toBe(403);
    await visitor.press('Connect The okta provider');
    await visitor.page.waitForURL(`${fixture.server.url}/app/`);
    await sees('The okta provider is connected.');
    await open(visitor, 'Devices and sessions');
    await sees('Devices that get notifications');
    expect((await call(fixture.server, 'GET', '/v1/push-tokens', mine)).status).toBe(200);
  });

  it('keeps a required provider when the confirmation is declined', async () => {
    await through('berta');
    await makeKey();
    await open(visitor, 'Security');
    await visitor.press('Disconnect The okta provider');
    await visitor.press('Cancel');
    await sees('Confirmed');
    const mine = { token: await token() };
    expect((await call(fixture.server, 'GET', '/v1/push-tokens', mine)).status).toBe(200);
  });
});

inChromium('the account page, with an automatic redirect to one provider', () => {
  beforeAll(async () => {
    const direct = {
      SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED: '1',
      SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID: 'okta',
    };
    fixture = await startLoginFixture({
      env: { ...OPTIONAL, ...HERE, ...direct, AUTH_SIGNUP_PROVIDERS: '' },
    });
  });
  afterAll(() => fixture.stop());
  beforeEach(openPage);

  it('does not redirect to the only provider after a sign-out', async () => {
    await atProvider('anna');
    await sees('Your account is ready.');
    await visitor.press('Sign out');
    await sees('You are signed out.');
    await visitor.page.getByRole('button', { name: 'Continue with' }).waitFor();
  });

  it('does not redirect to the only provider again after a refusal', async () => {
    await atProvider('out-berta');
    await sees('the policy of this server does not admit you');
    await visitor.page.getByRole('button', { name: 'Continue with' }).waitFor();
  });
});
