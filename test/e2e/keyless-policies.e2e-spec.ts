import { refusalOf } from '../helpers/client.js';
import { IS_POSTGRES, startServer, type Server, type ServerHost } from '../helpers/server.js';
import { createLane } from '../helpers/server-lane.js';
import { AccountCalls, encrypted, plain } from './account-calls.js';
import { begin, comeBack, hashOf, params, startWorld, type World } from './external-world.js';
import { finish, keylessLogin, OPTIONAL, pendingOf } from './keyless-calls.js';

/** Worlds and servers of a test, ended after it whatever became of it. */
const endings: (() => Promise<unknown>)[] = [];

const host = createLane();
afterAll(() => host.end());

afterEach(async () => {
  for (let end = endings.pop(); end; end = endings.pop()) {
    await end();
  }
});

async function aWorld(env: Readonly<Record<string, string>> = OPTIONAL): Promise<World> {
  const world = await startWorld({ env, host });
  endings.push(() => world.stop());
  return world;
}

/** Another server on the data of this one, in its place or beside it. */
async function another(
  world: World,
  env: Readonly<Record<string, string>>,
  place: { readonly host?: ServerHost } = { host },
): Promise<Server> {
  const started = await startServer({
    ...place,
    store: world.store,
    env: { ...world.env, ...env },
  });
  endings.push(() => started.stop());
  return started;
}

describe('logins without a device key under other policies', () => {
  it.each<[string, Readonly<Record<string, string>>, number, string]>([
    [
      'encryption is required',
      { SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'required_e2ee' },
      403,
      'e2ee-required',
    ],
    [
      'keyless accounts are off',
      { SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '0' },
      403,
      'keyless-disabled',
    ],
    [
      'keyless OAuth is off',
      { SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED: '0' },
      403,
      'keyless-disabled',
    ],
  ])(
    'cannot begin when %s, nor be finished when they began before',
    async (_name, env, status, code) => {
      const world = await aWorld();
      const { proof, back } = await pendingOf(world.server, 'anna');
      const begun = await begin(world.server, 'okta', { mode: 'keyless' });
      await world.server.kill('SIGKILL');
      const strict = await another(world, env);
      const refused = await params(strict, 'okta', { mode: 'keyless', proofHash: hashOf('x') });
      expect(refusalOf(refused)).toEqual({ status, code });
      const finished = await finish(strict, { pending: back['pending'], proof });
      expect(refusalOf(finished)).toEqual({ status, code });
      const returned = await comeBack(begun.url, 'anna');
      expect(returned).toEqual({ flow: 'auth', error: code.replaceAll('-', '_') });
    },
  );

  it('find accounts, and make none, without auto-provision', async () => {
    const world = await aWorld();
    const { body } = await keylessLogin(world.server, 'known');
    await world.server.kill('SIGKILL');
    const strict = await another(world, {
      SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION: '0',
      AUTH_SIGNUP_PROVIDERS: '',
    });
    const found = await keylessLogin(strict, 'known');
    expect(found.body).toMatchObject({ created: false, accountId: body['accountId'] });
    const { proof, back } = await pendingOf(strict, 'stranger');
    expect(back).toMatchObject({ provisioning: 'required', provisioningModes: '' });
    const refused = await finish(strict, { pending: back['pending'], proof });
    expect(refusalOf(refused)).toEqual({ status: 403, code: 'signup-provider-disabled' });
  });

  it('offer one mode where there is one: plain on plaintext_only', async () => {
    const env = { ...OPTIONAL, SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'plaintext_only' };
    const world = await aWorld(env);
    const { proof, back } = await pendingOf(world.server, 'anna');
    expect(back).toMatchObject({ storagePolicy: 'plaintext_only', provisioningModes: 'plain' });
    const { body } = await finish(world.server, { pending: back['pending'], proof });
    const account = new AccountCalls(world.server, String(body['token']));
    expect((await account.writeSettingsV2(plain(1), 0)).body).toMatchObject({ success: true });
    expect(refusalOf(await account.writeSettingsV2(encrypted('eA=='), 1))).toEqual({
      status: 403,
      code: 'encrypted-writes-disabled',
    });
  });
});

const several = IS_POSTGRES ? describe : describe.skip;
several('logins without a device key on two replicas (PostgreSQL only)', () => {
  it('make one account of a hundred first ones, fifty on each', async () => {
    const world = await aWorld();
    const replicas = [world.server, await another(world, { PORT: '0' }, {})];
    const begun = await Promise.all(
      Array.from({ length: 100 }, () => pendingOf(world.server, 'many')),
    );
    const answers = await Promise.all(
      begun.map(({ proof, back }, index) =>
        finish(replicas[index % 2] ?? world.server, { pending: back['pending'], proof }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body['accountId'])).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body['token'])).size).toBe(100);
    expect(answers.filter(({ body }) => body['created'] === true)).toHaveLength(1);
  });
});
