import { rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { call, type Json } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';

const UNKNOWN = '6f6a2f0e-1f55-4a0e-8d5f-6f3f4e5a6b7c';

let person: Person;

const fixture = await OffboardingFixture.open();
const server = await fixture.start();
const user = await createCliUser();
beforeEach(async () => {
  person = await fixture.person(server);
});
afterAll(() => fixture.close());

describe('the commands of administrators', () => {
  const gatehouse = (...args: string[]) => user.run(args, { ...fixture.env, ...fixture.store.env });
  const json = async (...args: string[]): Promise<Json[]> => {
    const { code, stdout, stderr } = await gatehouse(...args, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Json);
  };

  it('disables an account and its live connections at once, and enables it again', async () => {
    const live = await connect(server, { token: person.token });
    expect(await fixture.statusOf(server, person)).toBe(200);
    const { stdout } = await gatehouse('account', 'disable', person.accountId, '--reason', 'left');
    expect(stdout).toContain('Running servers were notified');
    expect(await live.next('closing')).toMatchObject({ code: 'account-disabled' });
    const refused = await call(server, 'GET', '/v1/push-tokens', person);
    expect(refused.body).toMatchObject({ code: 'account-disabled' });
    await gatehouse('account', 'enable', person.accountId, '--reason', 'came back');
    // The sessions of the account have ended for good.
    await fixture.until('enabled', async () => (await fixture.statusOf(server, person)) === 401);
    const { body } = await call(server, 'GET', '/v1/push-tokens', person);
    expect(body).toMatchObject({ code: 'token-revoked' });
  });

  it('revokes every token of an account, and re-checks its identities', async () => {
    fixture.provider.groups.set(person.sub, []);
    await gatehouse('account', 'recheck', person.accountId, '--reason', 'ticket 7');
    await fixture.until(
      'access ends',
      async () => (await fixture.statusOf(server, person)) === 403,
    );
    const revoke = ['account', 'revoke', person.accountId, '--reason', 'lost phone'];
    const [revoked] = await json(...revoke, '--actor', 'Zoë (on call)');
    expect(revoked).toMatchObject({ actor: 'Zoë (on call)', reason: 'lost phone' });
    await fixture.until('revoked', async () => (await fixture.statusOf(server, person)) === 401);
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
    const { stdout: table } = await gatehouse('audit');
    expect(table).toMatch(/all-tokens-revoked +\S+ +lost phone by Zoë \(on call\)\n/);
    expect(table).toMatch(/account-disabled +[0-9a-f]{8} +left by \S+\n/);
  });

  it('refuses an action without a reason or on an unknown account, and stores nothing', async () => {
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
    expect(await fixture.statusOf(server, person)).toBe(200);
    for (const id of [UNKNOWN, 'x', "' OR true --"]) {
      const { code, stderr } = await gatehouse('account', 'disable', id, '--reason', 'why');
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('no account') });
    }
    for (const since of ['yesterday', '7', '0', '2026']) {
      expect((await gatehouse('audit', '--since', since)).code).toBe(2);
    }
    for (const reason of ['a\nb', 'x'.repeat(201), ' ']) {
      const { code } = await gatehouse('account', 'revoke', person.accountId, '--reason', reason);
      expect({ reason, code }).toEqual({ reason, code: 2 });
    }
    expect(await json('audit')).toHaveLength(before.length);
  });

  it('reports what it cannot do without Redis or a database', async () => {
    const env = { ...fixture.env, ...fixture.store.env, REDIS_URL: '' };
    const args = ['account', 'enable', person.accountId, '--reason', 'test'];
    expect((await user.run(args, env)).stdout).toContain('AUTH_ACCESS_CACHE_SECONDS');
    expect((await user.run(args, {})).code).toBe(78);
  });

  it('explains the result of each rule, and lists accounts', async () => {
    await gatehouse('account', 'recheck', person.accountId, '--reason', 'to see the facts');
    await fixture.until('checked', () => (fixture.provider.checks.get(person.sub) ?? 0) === 1);
    await fixture.until('stored', async () => {
      const { rowCount } = await fixture.sql.query(
        `SELECT 1 FROM identity WHERE subject = $1 AND facts IS NOT NULL`,
        [person.sub],
      );
      return rowCount === 1;
    });
    const { stdout } = await gatehouse('policy', 'explain', person.accountId);
    expect(stdout).toContain(`${person.accountId}\nThis account is admitted.\n`);
    expect(stdout).toContain('The sign-in method key_challenge is allowed.');
    expect(stdout).toContain(
      'To be eligible at people, a person must be in one of the groups: staff.',
    );
    expect(stdout).toContain('groups staff');
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

  it('refuses to plan with a line that it does not understand, on the database', async () => {
    const file = join(user.home, 'misspelt.env');
    for (const [line, named] of [
      ['AUTH_REQUIRED_LOGIN_PROVIDER=okta', 'did you mean AUTH_REQUIRED_LOGIN_PROVIDERS?'],
      ['NO_SUCH_NAME_AT_ALL=x', 'NO_SUCH_NAME_AT_ALL: is not a variable of this server'],
      ['AUTH_REQUIRED_LOGIN_PROVIDERS okta', 'line 3: '],
    ] as const) {
      await writeFile(file, `# changed\n\n${line}\n`);
      const { code, stdout, stderr } = await gatehouse('policy', 'plan', '--file', file);
      expect({ line, code, stdout }).toEqual({ line, code: 78, stdout: '' });
      expect(stderr).toContain(named);
    }
  });

  it('refuses to request a check while re-checks are off', async () => {
    const args = ['account', 'recheck', person.accountId, '--reason', 'ticket 7'];
    const off = { AUTH_OFFBOARDING_ENABLED: 'false' };
    const refused = await user.run(args, { ...fixture.env, ...fixture.store.env, ...off });
    expect(refused).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringContaining('AUTH_OFFBOARDING_ENABLED is off'),
    });
  });

  it('plans a changed policy without touching anything', async () => {
    await gatehouse('account', 'recheck', person.accountId, '--reason', 'to see the facts');
    await fixture.until('stored', async () => {
      const { rowCount } = await fixture.sql.query(
        `SELECT 1 FROM identity WHERE subject = $1 AND facts IS NOT NULL`,
        [person.sub],
      );
      return rowCount === 1;
    });
    const file = join(user.home, 'new.env');
    const secretFile = join(user.home, 'client-secret');
    await writeFile(secretFile, 'stays on this machine');
    const providers = fixture.providers({
      ...{ clientSecret: undefined, clientSecretFile: secretFile },
      allow: { groupsAny: ['directors'] },
    });
    // The file has the change alone: all other variables stay as they are.
    await writeFile(file, `AUTH_PROVIDERS_CONFIG_JSON='${providers}'`);
    const [plan] = await json('policy', 'plan', '--file', file);
    const rule = { kind: 'rule', rule: 'groupsAny', before: ['staff'], after: ['directors'] };
    expect(plan?.['changes']).toEqual(
      ['people', 'guild'].map((provider) => expect.objectContaining({ ...rule, provider })),
    );
    expect(plan?.['examples']).toContain(person.accountId);
    expect(plan?.['lose']).toBe((plan?.['examples'] as string[] | undefined)?.length);
    expect(await fixture.statusOf(server, person)).toBe(200);
    await rm(file);
  });
});
