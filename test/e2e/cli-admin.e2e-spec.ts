import { rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createCliUser, type CliUser } from '../helpers/cli.js';
import { call, type Json } from '../helpers/client.js';
import { connect } from '../helpers/client-live.js';
import { IS_POSTGRES, type Server } from '../helpers/server.js';
import { OffboardingWorld, type Person } from './offboarding-world.js';

const UNKNOWN = '6f6a2f0e-1f55-4a0e-8d5f-6f3f4e5a6b7c';

const withServices = IS_POSTGRES ? describe : describe.skip;
withServices('the administrator at the command line (needs PostgreSQL and Redis)', () => {
  let world: OffboardingWorld;
  let server: Server;
  let user: CliUser;
  let person: Person;

  beforeAll(async () => {
    world = await OffboardingWorld.open();
    server = await world.start();
    user = await createCliUser();
  });
  beforeEach(async () => {
    person = await world.person(server);
  });
  afterAll(async () => {
    await user.remove();
    await world.close();
  });

  const gatehouse = (...args: string[]) => user.run(args, { ...world.env, ...world.store.env });
  const json = async (...args: string[]): Promise<Json[]> => {
    const { code, stdout, stderr } = await gatehouse(...args, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Json);
  };

  it('disables at once, live connections included, and enables again', async () => {
    const live = await connect(server, { token: person.token });
    expect(await world.statusOf(server, person)).toBe(200);
    const { stdout } = await gatehouse('account', 'disable', person.accountId, '--reason', 'left');
    expect(stdout).toContain('Running servers were notified (1)');
    expect(await live.next('closing')).toMatchObject({ code: 'account-disabled' });
    const refused = await call(server, 'GET', '/v1/push-tokens', person);
    expect(refused.body).toMatchObject({ code: 'account-disabled' });
    await gatehouse('account', 'enable', person.accountId, '--reason', 'came back');
    // Its sessions have ended for good.
    await world.until('enabled', async () => (await world.statusOf(server, person)) === 401);
    const { body } = await call(server, 'GET', '/v1/push-tokens', person);
    expect(body).toMatchObject({ code: 'token-revoked' });
  });

  it('revokes every token, and asks the providers again', async () => {
    world.provider.groups.set(person.sub, []);
    await gatehouse('account', 'recheck', person.accountId, '--reason', 'ticket 7');
    await world.until('access ends', async () => (await world.statusOf(server, person)) === 403);
    const revoke = ['account', 'revoke', person.accountId, '--reason', 'lost phone'];
    const [revoked] = await json(...revoke, '--actor', 'Zoë (on call)');
    expect(revoked).toMatchObject({ actor: 'Zoë (on call)', reason: 'lost phone' });
    await world.until('revoked', async () => (await world.statusOf(server, person)) === 401);
    const events = (await json('audit', '--since', '1h')).filter(
      ({ accountId }) => accountId === person.accountId,
    );
    expect(events.map(({ kind, actor, reason }) => [kind, actor, reason])).toEqual([
      ['signed-up', 'user', undefined],
      ['logged-in', 'user', undefined],
      ['recheck-requested', userInfo().username, 'ticket 7'],
      ['eligibility-lost', 'provider', 'group_missing'],
      ['all-tokens-revoked', 'Zoë (on call)', 'lost phone'],
    ]);
    expect(JSON.stringify(events)).not.toContain(person.token);
    expect((await gatehouse('audit')).stdout).toMatch(/all-tokens-revoked +Zoë \(on call\) /);
  });

  it('refuses without a reason, and for an unknown account, and stores nothing then', async () => {
    const before = await json('audit');
    expect((await gatehouse('account', 'disable', person.accountId)).code).toBe(2);
    expect((await gatehouse('account', 'disable', person.accountId, '--reason', ' ')).code).toBe(2);
    for (const actor of ['', ' ', 'user', 'System', 'provider', 'a\nb', ' alice', 'x'.repeat(65)]) {
      const args = ['account', 'disable', person.accountId, '--reason', 'why', '--actor', actor];
      const { code, stderr } = await gatehouse(...args);
      expect({ actor, code, stderr }).toEqual({
        actor,
        code: 2,
        stderr: expect.stringContaining('--actor'),
      });
    }
    expect(await world.statusOf(server, person)).toBe(200);
    for (const id of [UNKNOWN, 'x', "' OR true --"]) {
      const { code, stderr } = await gatehouse('account', 'disable', id, '--reason', 'why');
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('no account') });
    }
    expect((await gatehouse('audit', '--since', 'yesterday')).code).toBe(2);
    expect(await json('audit')).toHaveLength(before.length);
  });

  it('says what it cannot do without Redis or a database', async () => {
    const env = { ...world.env, ...world.store.env, REDIS_URL: '' };
    const args = ['account', 'enable', person.accountId, '--reason', 'test'];
    expect((await user.run(args, env)).stdout).toContain('AUTH_ACCESS_CACHE_SECONDS');
    expect((await user.run(args, {})).code).toBe(78);
  });

  it('explains what each rule saw, and lists accounts', async () => {
    await gatehouse('account', 'recheck', person.accountId, '--reason', 'to see the facts');
    await world.until('checked', () => (world.provider.checks.get(person.sub) ?? 0) === 1);
    await world.until('stored', async () => {
      const { rowCount } = await world.sql.query(
        `SELECT 1 FROM identity WHERE subject = $1 AND facts IS NOT NULL`,
        [person.sub],
      );
      return rowCount === 1;
    });
    const { stdout } = await gatehouse('policy', 'explain', person.accountId);
    expect(stdout).toContain(`${person.accountId} is allowed.`);
    expect(stdout).toContain('Login with key_challenge is allowed.');
    expect(stdout).toContain('Rule groupsAny: staff');
    expect(stdout).toContain('"groups":["staff"]');
    expect(stdout).toContain('By these rules: eligible.');
    const [explained] = await json('policy', 'explain', person.accountId);
    expect(explained).toMatchObject({
      isAllowed: true,
      logins: [{ method: 'key_challenge', isAllowed: true }],
      providers: [{ provider: 'people' }],
    });
    const listed = await json('account', 'list');
    expect(listed.map(({ id }) => id)).toContain(person.accountId);
    expect(await json('account', 'list', '--limit', '1')).toHaveLength(1);
  });

  it('plans a changed policy without touching anything', async () => {
    await gatehouse('account', 'recheck', person.accountId, '--reason', 'to see the facts');
    await world.until('stored', async () => {
      const { rowCount } = await world.sql.query(
        `SELECT 1 FROM identity WHERE subject = $1 AND facts IS NOT NULL`,
        [person.sub],
      );
      return rowCount === 1;
    });
    const file = join(user.home, 'new.env');
    const secretFile = join(user.home, 'client-secret');
    await writeFile(secretFile, 'stays on this machine');
    const entry = {
      ...world.provider.entry,
      clientSecret: undefined,
      clientSecretFile: secretFile,
      allow: { groupsAny: ['directors'] },
    };
    const changed = { ...world.env, AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([entry]) };
    const lines = Object.entries(changed).map(([name, value]) => `${name}='${value}'`);
    await writeFile(file, lines.join('\n'));
    const [plan] = await json('policy', 'plan', '--file', file);
    expect(plan?.['examples']).toContain(person.accountId);
    expect(plan?.['lose']).toBe((plan?.['examples'] as string[] | undefined)?.length);
    expect(await world.statusOf(server, person)).toBe(200);
    await rm(file);
  });
});
