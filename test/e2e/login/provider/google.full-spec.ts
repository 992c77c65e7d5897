import { Client } from 'pg';
import { FakeGoogleWorkspace } from '../../../fakes/google-workspace.js';
import { createCliUser } from '../../../fixtures/programs/cli-fixture.js';
import { call, makeDeviceKey, type Json } from '../../../helpers/client.js';
import { connect } from '../../../helpers/client-live.js';
import { waitFor } from '../../../helpers/wait.js';
import {
  begin,
  logInAtProvider,
  loginThrough,
  profile,
  startLoginFixture,
} from '../../../fixtures/provider-login-fixture.js';

const METRICS_TOKEN = 'a-metrics-token-of-the-spec';
const STAFF = 'staff@acme.example';

const google = await FakeGoogleWorkspace.start();
const fixture = await startLoginFixture({
  env: {
    AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta',
    AUTH_OFFBOARDING_INTERVAL_SECONDS: '3600',
    METRICS_TOKEN,
  },
  entry: {
    scopes: ['openid', 'profile', 'email'],
    storeRefreshToken: null,
    allow: { emailDomains: ['acme.example'], groupsAny: [STAFF] },
    googleWorkspaceGroups: google.settings,
  },
});
const server = fixture.server;
const sql = new Client({ connectionString: server.databaseUrl ?? '' });
await sql.connect();
afterAll(async () => {
  await sql.end();
  await fixture.stop();
  await google.close();
});

describe('groups of Google Workspace', () => {
  afterEach(() => {
    google.faults.clear();
    google.isAdminAuthorized = true;
  });

  /** A user of the directory; the id is the subject at the OpenID Provider. */
  function add(id: string, ...groups: readonly string[]): void {
    google.users.set(id, { primaryEmail: `${id}@acme.example` });
    google.setGroups(id, ...groups);
  }

  async function member(id: string): Promise<string> {
    add(id, STAFF.toUpperCase(), 'all@acme.example');
    const { body } = await loginThrough(server, id, makeDeviceKey());
    expect(body).toMatchObject({ success: true, created: true });
    return body.token;
  }

  const errorFor = async (id: string): Promise<string | undefined> =>
    (await logInAtProvider((await begin(server)).url, id))['error'];
  const statusOf = async (token: string): Promise<number> =>
    (await call(server, 'GET', '/v1/push-tokens', { token })).status;
  const eligibilityOf = async (token: string): Promise<unknown> => {
    const { identities } = (await profile(server, token)).body;
    return (identities as { eligibility: unknown }[])[0]?.eligibility;
  };
  const makeDue = (id: string) =>
    sql.query('UPDATE identity SET eligibility_next_check_at = now() WHERE subject = $1', [id]);
  const reasonOf = async (id: string): Promise<string | null> => {
    const text = `SELECT eligibility_reason AS reason FROM identity
      WHERE subject = $1 AND consecutive_failures > 0`;
    return (await sql.query<{ reason: string | null }>(text, [id])).rows[0]?.reason ?? null;
  };
  const metrics = async (): Promise<string> =>
    (await call(server, 'GET', '/metrics', { token: METRICS_TOKEN })).text;

  it('admits only members, and stores no token of theirs', async () => {
    const token = await member('anna');
    expect(await statusOf(token)).toBe(200);
    const { rows } = await sql.query(
      `SELECT credentials FROM identity WHERE subject = 'anna' AND credentials IS NULL`,
    );
    expect(rows).toHaveLength(1);
    add('berta', 'sales@acme.example');
    expect(await errorFor('berta')).toBe('not_eligible');
    google.setGroups('berta', STAFF);
    google.users.set('berta', { primaryEmail: 'berta@acme.example', suspended: true });
    expect(await errorFor('berta')).toBe('not_eligible');
    expect(await errorFor('clara')).toBe('not_eligible');
    google.foreign.add('clara');
    expect(await errorFor('clara')).toBe('not_eligible');
    google.users.set('berta', { primaryEmail: 'berta@acme.example' });
    expect(await errorFor('berta')).toBeUndefined();
  });

  it('ends access at the re-check after a person left the group, and restores it on return', async () => {
    const token = await member('dora');
    const live = await connect(server, { token });
    await live.next('hello');
    google.setGroups('dora', 'all@acme.example');
    await makeDue('dora');
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'okta' });
    expect(await statusOf(token)).toBe(403);
    expect(await eligibilityOf(token)).toMatchObject({ reason: 'group_missing' });

    google.setGroups('dora', STAFF);
    await makeDue('dora');
    await waitFor('access', async () => (await statusOf(token)) === 200);

    google.users.set('dora', { primaryEmail: 'dora@acme.example', suspended: true });
    await makeDue('dora');
    await waitFor('no access', async () => (await statusOf(token)) === 403);
    expect(await eligibilityOf(token)).toMatchObject({ reason: 'account_suspended' });
    google.users.delete('dora');
    await makeDue('dora');
    await waitFor('gone', async () => {
      const { reason } = (await eligibilityOf(token)) as { reason: string };
      return reason === 'account_not_found';
    });
  });

  it('treats an outage or a refused service account as unknown, which keeps access', async () => {
    const token = await member('emma');
    google.faults.set('/groups', 'server-error');
    await makeDue('emma');
    await waitFor('the outage', async () => (await reasonOf('emma')) === 'server_error');
    expect(await errorFor('emma')).toBe('upstream_error');
    google.faults.clear();

    google.isAdminAuthorized = false;
    google.users.delete('emma');
    await makeDue('emma');
    const refused = 'service_account_refused';
    await waitFor('the refusal', async () => (await reasonOf('emma')) === refused);
    expect(await statusOf(token)).toBe(200);
    expect(await errorFor('emma')).toBe('upstream_error');
    expect(await metrics()).toMatch(
      /gatehouse_eligibility_checks_total\{provider="okta",outcome="service_account_refused"\} [1-9]/,
    );
    await waitFor('the log', () => server.logs().includes('"detail":"admin_not_authorized"'));
    const line = server
      .logs()
      .split('\n')
      .find((one) => one.includes('admin_not_authorized'));
    expect(line).toContain('"level":"error"');
    expect(line).toContain('it refuses the service account');
  });

  it('reports the fault in config check, and prints the key nowhere', async () => {
    const user = await createCliUser();
    const providers = JSON.stringify([
      (JSON.parse(fixture.env['AUTH_PROVIDERS_CONFIG_JSON'] ?? '[]') as Json[])[0],
    ]);
    const env = { SERVICE_PUBLIC_URL: server.url, AUTH_PROVIDERS_CONFIG_JSON: providers };
    const good = await user.run(['doctor', 'providers'], env);
    expect(good.stdout).toMatch(/^pass +okta +directory +the service account reads the users/m);
    google.delegatedScopes = [];
    const bad = await user.run(['config', 'check', '--online', '--json'], env);
    expect(bad.code).toBe(1);
    expect((JSON.parse(bad.stdout) as Json)['findings']).toContainEqual({
      severity: 'error',
      code: 'provider-directory',
      params: { provider: 'okta' },
      message: expect.stringMatching(
        /^okta: the service account may not act for adminEmail: .*user\.readonly\.$/,
      ),
    });
    const printed = await user.run(['config', 'print', '--json'], env);
    expect(printed.stdout).toContain(google.keyFile);
    const output = [good, bad, printed].map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(output + server.logs()).not.toMatch(/PRIVATE KEY|iam\.gserviceaccount/);
  });
});
