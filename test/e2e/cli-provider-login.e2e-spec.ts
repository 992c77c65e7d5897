import { Client } from 'pg';
import { createCliUser, type CliUser } from '../helpers/cli.js';
import { freePort } from '../helpers/service-process.js';
import { Browser } from './external-browser.js';
import { params, RETURN_BASE, startWorld, type World } from './external-world.js';

const ADDRESS = /^ {2}(http\S+)$/m;

let world: World;
let user: CliUser;

beforeAll(async () => {
  world = await startWorld({
    env: {
      SERVICE_PRESET: 'public-provider-required',
      AUTH_SIGNUP_PROVIDERS: 'okta',
      AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta',
      AUTH_OFFBOARDING_INTERVAL_SECONDS: '60',
    },
  });
});
afterAll(() => world.stop());
beforeEach(async () => {
  user = await createCliUser();
});
afterEach(() => user.remove());

/** What a person does: reads the address in the terminal, opens it, logs in. */
async function logIn(person: string, ...flags: string[]) {
  const { url } = world.server;
  const cli = user.start(['login', '--server', url, '--provider', 'okta', ...flags]);
  await cli.until(() => ADDRESS.test(cli.stderr()));
  const [, address = ''] = ADDRESS.exec(cli.stderr()) ?? [];
  const browser = new Browser({ login: person, password: 'any password' });
  const back = await browser.visit(address, 'http://127.0.0.1:');
  const page = await visitUntilLoopback(browser, back);
  return { cli, back: page };
}

/** The provider itself is on 127.0.0.1 too: go on until the browser is at the command line's. */
async function visitUntilLoopback(browser: Browser, from: URL): Promise<Response> {
  let at = from;
  while (at.pathname !== '/oauth/okta') {
    at = await browser.visit(at, 'http://127.0.0.1:');
  }
  return fetch(at);
}

/** What the interval, a minute at least, would do; where there is no SQL, it does. */
async function makeDue(): Promise<void> {
  if (world.store.databaseUrl !== null) {
    const database = new Client({ connectionString: world.store.databaseUrl });
    await database.connect();
    await database.query('UPDATE identity SET eligibility_next_check_at = now()');
    await database.end();
  }
}

describe('gatehouse login --provider, on a server of the preset public-provider-required', () => {
  it('makes an account, and logs in to it again', async () => {
    const first = await logIn('anna', '--json');
    expect(await first.back.text()).toContain('You can close this page.');
    const created = await first.cli.exited;
    expect(created.code).toBe(0);
    expect(JSON.parse(created.stdout)).toMatchObject({ created: true });
    const again = await (await logIn('anna', '--json')).cli.exited;
    expect(JSON.parse(again.stdout)).toMatchObject({
      created: false,
      accountId: (JSON.parse(created.stdout) as { accountId: string }).accountId,
    });
    const who = await user.run(['tokens', 'list', '--json']);
    expect(who.code).toBe(0);
  });

  it('is closed to a device key alone', async () => {
    const { code, stderr } = await user.run(['login', '--server', world.server.url]);
    expect(code).toBe(1);
    expect(stderr).toContain('gatehouse login --provider');
  });

  it('says in words that the provider does not let somebody in, and stores nothing', async () => {
    await world.oidc.setGroups('mallory', ['visitors']);
    const { cli } = await logIn('mallory');
    const { code, stderr } = await cli.exited;
    expect(code).toBe(1);
    expect(stderr).toContain('its rules here do not let you in');
    expect((await user.run(['whoami'])).code).toBe(3);
  });

  it('ends a connection that is being watched when the provider takes the group away', async () => {
    await (
      await logIn('bert')
    ).cli.exited;
    const watch = user.start(['watch', '--json']);
    await watch.until(() => watch.stdout() + watch.stderr() !== '');
    await world.oidc.setGroups('bert', []);
    await makeDue();
    const { code, stderr, stdout } = await watch.exited;
    expect(stdout + stderr).toContain('not-eligible');
    expect(code).toBe(1);
    expect((await user.run(['tokens', 'list'])).stderr).toContain('does not confirm');
  });
});

describe('the loopback port of a login', () => {
  it.each(['0', '80', '1023', '65536', '3000.5', '-1', '3000@evil.example', '3000/..', ''])(
    'is refused as %j',
    async (loopbackPort) => {
      const query = { mode: 'keyed', proofHash: 'a'.repeat(64), loopbackPort };
      expect((await params(world.server, 'okta', query)).status).toBe(400);
    },
  );

  it('is where refusals go too, and the configured address hears nothing', async () => {
    const port = await freePort();
    const query = { mode: 'keyed', proofHash: 'a'.repeat(64), loopbackPort: String(port) };
    const { body } = await params(world.server, 'okta', query);
    const state = new URL(String(body['url'])).searchParams.get('state') ?? '';
    const callback = `${world.server.url}/v1/oauth/okta/callback?state=${state}&error=access_denied`;
    const answer = await fetch(callback, { redirect: 'manual' });
    const location = new URL(answer.headers.get('location') ?? '');
    expect(`${location.origin}${location.pathname}`).toBe(`http://127.0.0.1:${port}/oauth/okta`);
    const again = await fetch(callback, { redirect: 'manual' });
    expect(again.headers.get('location')).toBe(`${RETURN_BASE}/okta?flow=auth&error=invalid_state`);
  });
});
