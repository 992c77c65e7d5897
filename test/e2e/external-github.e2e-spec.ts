import { FakeGitHub, type FakePerson } from '../fakes/github.js';
import { CLIENT } from '../fakes/openid-provider.js';
import { makeDeviceKey, refusalOf } from '../helpers/client.js';
import {
  begin,
  comeBack,
  finalize,
  loginThrough,
  profile,
  startWorld,
  type World,
} from './external-world.js';

let world: World;
let gitHub: FakeGitHub;

beforeAll(async () => {
  gitHub = await FakeGitHub.start();
  world = await startWorld({
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
});
afterAll(async () => {
  await world.stop();
  await gitHub.close();
});

/** What the client receives after this person agreed at GitHub. */
async function comeBackAs(person: FakeGitHub['browser']) {
  gitHub.browser = person;
  const begun = await begin(world.server, 'github');
  return { ...begun, back: await comeBack(begun.url, '') };
}

describe('signing up through GitHub', () => {
  it('is for members, who keep their account when they are renamed', async () => {
    const person = gitHub.add({ id: 501, login: 'anna', orgs: { acme: 'active' } });
    gitHub.browser = person;
    const key = makeDeviceKey();
    const first = await loginThrough(world.server, '', key, 'github');
    expect(first.body).toMatchObject({ success: true, created: true });
    person.login = 'anna-renamed';
    const again = await loginThrough(world.server, '', key, 'github');
    expect(again.body).toMatchObject({ accountId: first.body.accountId, created: false });
    const { body } = await profile(world.server, again.body.token);
    expect(body['identities']).toMatchObject([{ provider: 'github', login: 'anna-renamed' }]);
  });

  it('gives a login that was registered anew nothing of the person who had it', async () => {
    gitHub.browser = gitHub.add({ id: 502, login: 'berta', orgs: { acme: 'active' } });
    const key = makeDeviceKey();
    const first = await loginThrough(world.server, '', key, 'github');
    gitHub.browser = gitHub.add({ id: 503, login: 'berta', orgs: { acme: 'active' } });
    const other = await loginThrough(world.server, '', makeDeviceKey(), 'github');
    expect(other.body).toMatchObject({ created: true });
    expect(other.body.accountId).not.toBe(first.body.accountId);
    const taken = await loginThrough(world.server, '', key, 'github');
    expect(refusalOf(taken)).toEqual({ status: 409, code: 'provider-already-linked' });
  });

  it('refuses who is not a member, and who has only been invited', async () => {
    const outsiders: FakePerson['orgs'][] = [{}, { acme: 'pending' }, { other: 'active' }];
    for (const orgs of outsiders) {
      const person = gitHub.add({ id: 600 + gitHub.people.length, login: 'clara', orgs });
      const { back } = await comeBackAs(person);
      expect(back).toEqual({ flow: 'auth', error: 'not_eligible' });
    }
  });

  it('is an upstream error, not a refusal, while GitHub cannot say', async () => {
    const person = gitHub.add({ id: 701, login: 'dora', orgs: { acme: 'active' } });
    gitHub.faults.set('*', 'server-error');
    expect((await comeBackAs(person)).back).toEqual({ flow: 'auth', error: 'upstream_error' });
    gitHub.faults.clear();
    const { back, proof } = await comeBackAs(person);
    const options = { provider: 'github', proof };
    const answer = await finalize(world.server, back['pending'], makeDeviceKey(), options);
    expect(answer.body).toMatchObject({ created: true });
  });
});
