import { useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import { callbackOf, params, startLoginFixture } from '../../fixtures/provider-login-fixture.js';

const ADDRESS = /^ {2}(http\S+)$/m;

const user = useCliUser();

const fixture = await startLoginFixture({
  env: {
    SERVICE_PRESET: 'public-provider-required',
    AUTH_SIGNUP_PROVIDERS: 'okta',
    AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta',
    AUTH_OFFBOARDING_INTERVAL_SECONDS: '60',
    SERVICE_SUPPORT_URL: 'mailto:help@acme.example',
  },
});
afterAll(() => fixture.stop());

/** Logs in as a person does: reads address and code in the terminal, compares, and continues. */
async function run(command: 'login' | 'signup', person: string, ...flags: string[]) {
  const { url } = fixture.server;
  const cli = user.start([command, '--server', url, '--provider', 'okta', ...flags]);
  await cli.until(() => cli.stderr().includes('Waiting for the browser'));
  const [, address = ''] = ADDRESS.exec(cli.stderr()) ?? [];
  const page = await (await fetch(await callbackOf(fixture.server, address, person))).text();
  const [, code = ''] = /page of the server shows this code: (\S+)/.exec(cli.stderr()) ?? [];
  expect(code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
  expect(page).toContain(`<p class="code">${code}</p>`);
  const [, link = ''] = /<a href="([^"]+)"/.exec(page) ?? [];
  return { cli, back: await fetch(link.replaceAll('&amp;', '&')) };
}

/** Makes identities due, in place of a wait for the interval. */
async function makeDue(): Promise<void> {
  const due = 'UPDATE identity SET eligibility_next_check_at = now()';
  await runSql(fixture.store.databaseUrl, due);
}

describe('gatehouse login --provider, on a server of the preset public-provider-required', () => {
  it('creates an account, and logs in to it again', async () => {
    const first = await run('signup', 'anna', '--json');
    expect(await first.back.text()).toContain('You can close this page.');
    const created = await first.cli.exited;
    expect(created.code).toBe(0);
    expect(JSON.parse(created.stdout)).toMatchObject({ created: true });
    const again = await (await run('login', 'anna', '--json')).cli.exited;
    expect(JSON.parse(again.stdout)).toMatchObject({
      created: false,
      accountId: (JSON.parse(created.stdout) as { accountId: string }).accountId,
    });
    const who = await user.run(['tokens', 'list', '--json']);
    expect(who.code).toBe(0);
  });

  it('creates no account with login: refuses before a browser opens without a key, and at the end with one', async () => {
    const args = ['login', '--server', fixture.server.url, '--provider', 'okta', '--json'];
    const without = await user.run(args);
    expect(without.code).toBe(3);
    expect(JSON.parse(without.stderr)).toMatchObject({ error: { code: 'no-device-key' } });
    const restore = ['key', 'restore', '--server', fixture.server.url];
    expect((await user.run(restore, {}, 'A'.repeat(43))).code).toBe(0);
    const { code, stderr } = await (await run('login', 'carla', '--json')).cli.exited;
    expect(code).toBe(1);
    expect(stderr).toContain('"code":"no-account"');
    expect((await user.run(['whoami'])).code).toBe(3);
  });

  it('refuses a device key without a provider', async () => {
    const { code, stderr } = await user.run(['signup', '--server', fixture.server.url]);
    expect(code).toBe(1);
    expect(stderr).toContain('gatehouse signup --provider');
  });

  it('reports that the provider refuses a person, and stores nothing', async () => {
    await fixture.oidc.setGroups('mallory', ['visitors']);
    const { cli } = await run('signup', 'mallory');
    const { code, stderr } = await cli.exited;
    expect(code).toBe(1);
    expect(stderr).toContain('the policy of this server does not admit you');
    expect(stderr).toContain('Who can help: help@acme.example');
    // The rules are no business of a stranger.
    expect(stderr).not.toMatch(/Account ID|in none of the/);
    expect((await user.run(['whoami'])).code).toBe(3);
  });

  it('ends a watched connection when the provider removes the person from the group, and says why', async () => {
    await (
      await run('signup', 'bert')
    ).cli.exited;
    const watch = user.start(['watch', '--json']);
    await watch.until(() => watch.stdout() + watch.stderr() !== '');
    await fixture.oidc.setGroups('bert', []);
    await makeDue();
    const { code, stderr, stdout } = await watch.exited;
    expect(stdout + stderr).toContain('not-eligible');
    expect(code).toBe(1);
    const who = JSON.parse((await user.run(['whoami', '--json'])).stdout) as { id: string };
    const reason = 'You are in none of the groups at The okta provider that have access.';
    const listed = (await user.run(['tokens', 'list'])).stderr;
    expect(listed).toContain('The okta provider does not confirm');
    const again = (await (await run('login', 'bert')).cli.exited).stderr;
    for (const refusal of [listed, again]) {
      expect(refusal).toContain(reason);
      expect(refusal).toContain(`Account ID: ${who.id}`);
      expect(refusal).toContain('Who can help: help@acme.example');
    }
    const asJson = await user.run(['tokens', 'list', '--json']);
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      error: { accountId: who.id, reason: 'group_missing', support: 'mailto:help@acme.example' },
    });
  });
});

describe('gatehouse signup --provider, at a server without loopback return', () => {
  it('reports that the server does not return to programs before a browser opens', async () => {
    const env = { ...fixture.env, PORT: '0', AUTH_LOOPBACK_RETURN_ENABLED: '0' };
    const server = await startServer({ store: fixture.store, env });
    const args = ['signup', '--server', server.url, '--provider', 'okta', '--json'];
    const { code, stdout, stderr } = await user.run(args);
    expect(code).toBe(1);
    expect(stdout + stderr).toContain('loopback-return-disabled');
    expect(stdout + stderr).not.toMatch(ADDRESS);
    const query = { mode: 'keyed', proofHash: 'a'.repeat(64) };
    expect((await params(server, 'okta', query)).status).toBe(200);
    await server.stop();
  });
});
