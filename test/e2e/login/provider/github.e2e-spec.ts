import { FakeGitHub, type FakePerson } from '../../../fakes/github.js';
import { CLIENT } from '../../../fakes/openid-provider.js';
import { makeDeviceKey, refusalOf } from '../../../helpers/client.js';
import {
  begin,
  logInAtProvider,
  finalize,
  loginThrough,
  profile,
  startLoginFixture,
} from '../../../fixtures/provider-login-fixture.js';

const gitHub = await FakeGitHub.start();
const fixture = await startLoginFixture({
  env: {
    GITHUB_CLIENT_ID: CLIENT.id,
    GITHUB_CLIENT_SECRET: CLIENT.secret,
    GITHUB_BASE_URL: gitHub.url,
    GITHUB_API_URL: `${gitHub.url}/api/v3`,
    AUTH_GITHUB_ALLOWED_ORGS: 'acme',
    AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE: 'oauth_user_token',
    AUTH_SIGNUP_PROVIDERS: 'github',
  },
});
afterAll(async () => {
  await fixture.stop();
  await gitHub.close();
});

/** Returns the result that the client receives after this person agreed at GitHub. */
async function logInAs(person: FakeGitHub['browser']) {
  gitHub.browser = person;
  const login = await begin(fixture.server, 'github');
  return { ...login, back: await logInAtProvider(login.url, '') };
}

describe('signing up through GitHub', () => {
  it('admits members, who keep their account when they are renamed', async () => {
    const person = gitHub.add({ id: 501, login: 'anna', orgs: { acme: 'active' } });
    gitHub.browser = person;
    const key = makeDeviceKey();
    const first = await loginThrough(fixture.server, '', key, 'github');
    expect(first.body).toMatchObject({ success: true, created: true });
    person.login = 'anna-renamed';
    const again = await loginThrough(fixture.server, '', key, 'github');
    expect(again.body).toMatchObject({ accountId: first.body.accountId, created: false });
    const { body } = await profile(fixture.server, again.body.token);
    expect(body['identities']).toMatchObject([{ provider: 'github', login: 'anna-renamed' }]);
  });

  it('separates the new owner of a GitHub login from its former owner', async () => {
    gitHub.browser = gitHub.add({ id: 502, login: 'berta', orgs: { acme: 'active' } });
    const key = makeDeviceKey();
    const first = await loginThrough(fixture.server, '', key, 'github');
    gitHub.browser = gitHub.add({ id: 503, login: 'berta', orgs: { acme: 'active' } });
    const other = await loginThrough(fixture.server, '', makeDeviceKey(), 'github');
    expect(other.body).toMatchObject({ created: true });
    expect(other.body.accountId).not.toBe(first.body.accountId);
    const taken = await loginThrough(fixture.server, '', key, 'github');
    expect(refusalOf(taken)).toEqual({ status: 409, code: 'provider-already-linked' });
  });

  it('refuses people who are not members or only invited', async () => {
    const outsiders: FakePerson['orgs'][] = [{}, { acme: 'pending' }, { other: 'active' }];
    for (const orgs of outsiders) {
      const person = gitHub.add({ id: 600 + gitHub.people.length, login: 'clara', orgs });
      const { back } = await logInAs(person);
      expect(back).toEqual({ flow: 'auth', error: 'not_eligible' });
    }
  });

  it('reports an upstream error, not a refusal, while GitHub is unavailable', async () => {
    const person = gitHub.add({ id: 701, login: 'dora', orgs: { acme: 'active' } });
    gitHub.faults.set('*', 'server-error');
    expect((await logInAs(person)).back).toEqual({ flow: 'auth', error: 'upstream_error' });
    gitHub.faults.clear();
    const { back, proof } = await logInAs(person);
    const options = { provider: 'github', proof };
    const answer = await finalize(fixture.server, back['pending'], makeDeviceKey(), options);
    expect(answer.body).toMatchObject({ created: true });
  });

  it('admits no stranger who takes the name of a renamed organisation, after a restart either', async () => {
    const member = gitHub.add({ id: 801, login: 'emma', orgs: { acme: 'active' } });
    expect((await logInAs(member)).back).not.toHaveProperty('error');
    gitHub.renameOrganization('acme', 'acme-inc');
    gitHub.organizations.set('acme', 6666);
    const stranger = gitHub.add({ id: 802, login: 'mallory', orgs: { acme: 'active' } });
    const server = await fixture.restart();
    expect((await logInAs(stranger)).back).toEqual({ flow: 'auth', error: 'not_eligible' });
    expect((await logInAs(member)).back).not.toHaveProperty('error');
    await server.logged(/an organisation was renamed: write id:9001 in AUTH_GITHUB_ALLOWED_ORGS/);

    gitHub.organizations.delete('acme-inc');
    expect((await logInAs(member)).back).toEqual({ flow: 'auth', error: 'upstream_error' });
    await server.logged(/"level":"error".*it shows no organisation with the name or id/);
  });
});
