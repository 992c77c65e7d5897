import type { Route } from 'playwright-core';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { runSql } from '../../../fixtures/programs/services-fixture.js';
import { startLoginFixture } from '../../../fixtures/provider-login-fixture.js';
import { call } from '../../../helpers/client.js';
import { OPTIONAL } from '../../../helpers/keyless-calls.js';
import {
  accountId,
  open,
  saveNewKey,
  sees as seesIn,
  seesSignIn,
  tokenOf,
} from '../account-page-acts.js';
import { PageScreenshots } from '../page-screenshots.js';

const SUPPORT = 'mailto:help@acme.example?subject=Access';
const REASON = 'You are in none of the groups at The okta provider that have access.';

const screenshots = await PageScreenshots.open('refused');
const fixture = await startLoginFixture({
  env: {
    ...OPTIONAL,
    SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: '',
    SERVICE_SUPPORT_URL: SUPPORT,
    AUTH_SIGNUP_PROVIDERS: 'okta',
    AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta',
    AUTH_OFFBOARDING_INTERVAL_SECONDS: '60',
  },
});
afterAll(() => fixture.stop());
const visit = useChromium();

inChromium('a person who leaves the required group', () => {
  let visitor: Visitor;

  beforeEach(async () => {
    visitor = await visit(`${fixture.server.url}/app`, { reducedMotion: 'reduce' });
  });

  const sees = (words: string | RegExp) => seesIn(visitor, words);

  async function through(person: string): Promise<void> {
    await visitor.press('Continue with The okta provider');
    await visitor.page.waitForURL(`${fixture.oidc.issuer}/**`);
    await visitor.page.locator('input[name=login]').fill(person);
    await visitor.page.locator('input[name=password]').fill('any password');
    await visitor.page.locator('button[type=submit]').click();
  }

  /** Lets the server ask the provider now, in place of a wait for the interval. */
  async function recheck(): Promise<void> {
    const due = 'UPDATE identity SET eligibility_next_check_at = now()';
    await runSql(fixture.store.databaseUrl ?? '', due);
  }

  const card = () => visitor.page.getByRole('region', { name: 'You have no access right now' });

  it('learns the reason at once, asks again in vain, and is back after the group is restored', async () => {
    await through('anna');
    await visitor.press(/End-to-end encrypted/);
    await saveNewKey(visitor);
    const id = await accountId(visitor);
    const mine = { token: await tokenOf(visitor) };
    await open(visitor, 'Security');

    await fixture.oidc.setGroups('anna', []);
    await recheck();
    await card().getByText(REASON).waitFor();
    expect(await card().innerText()).toContain(id);
    const help = card().getByRole('link', { name: 'help@acme.example' });
    expect(await help.getAttribute('href')).toBe(SUPPORT);
    expect((await call(fixture.server, 'GET', '/v1/push-tokens', mine)).status).toBe(403);
    await screenshots.check(visitor, 'refused');

    await visitor.press('Check again');
    await sees('Nothing has changed yet.');
    const refusal = visitor.page.waitForRequest(/\/app\/oauth\/okta\?.*error=not_eligible/);
    await visitor.press('Sign in at The okta provider again');
    await refusal;
    await card().getByText(REASON).waitFor();
    expect(await visitor.page.getByText('is connected.').count()).toBe(0);

    // Restored on the way there: a check of the interval would remove the button.
    const restore = async (route: Route) => {
      await fixture.oidc.setGroups('anna', ['engineering']);
      await route.continue();
    };
    await visitor.page.route(`${fixture.oidc.issuer}/**`, restore, { times: 1 });
    await visitor.press('Sign in at The okta provider again');
    await sees('The okta provider is connected.');
    await card().waitFor({ state: 'detached' });
    await open(visitor, 'Devices and sessions');
    await sees('Devices that get notifications');
    expect((await call(fixture.server, 'GET', '/v1/push-tokens', mine)).status).toBe(200);
  });

  it('learns the reason at a sign-in, unlike a stranger', async () => {
    await through('karl');
    await visitor.press(/Readable by the server/);
    await sees('Your account is ready.');
    const id = await accountId(visitor);
    await fixture.oidc.setGroups('karl', []);
    await visitor.close();
    visitor = await visit(`${fixture.server.url}/app`, { reducedMotion: 'reduce' });
    await through('karl');
    await sees(REASON);
    await sees(id);
    await visitor.page.getByRole('link', { name: 'help@acme.example' }).waitFor();
    await seesSignIn(visitor);
    await screenshots.check(visitor, 'refused-sign-in');

    await visitor.close();
    visitor = await visit(`${fixture.server.url}/app`);
    await through('out-mallory');
    await sees('the policy of this server does not admit you');
    await visitor.page.getByRole('link', { name: 'help@acme.example' }).waitFor();
    expect(await visitor.page.getByText('Account ID').count()).toBe(0);
    expect(await visitor.page.getByText('groups').count()).toBe(0);
  });

  it('believes no reason and no account of an address that another page wrote', async () => {
    const written = 'flow=auth&error=not_eligible&reason=group_missing&account=call-0900-1234';
    await visitor.page.goto(`${fixture.server.url}/app/oauth/okta?${written}`);
    await sees('the policy of this server does not admit you');
    expect(await visitor.page.getByText('0900').count()).toBe(0);
  });
});
