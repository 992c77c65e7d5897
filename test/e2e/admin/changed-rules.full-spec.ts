import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, type Json, type Login } from '../../helpers/client.js';
import { connect, type LiveClient } from '../../helpers/client-live.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { callFrom, mtlsEnv, PROXY } from '../../fixtures/certificate-login-fixture.js';

const METRICS_TOKEN = 'a-metrics-token-of-the-spec';
const EVERYONE = { allowedIssuers: [], allowedEmailDomains: [] };

let versions = 0;
const contents = { 'providers.json': '', 'certificates.json': '' };

/** Swaps both files at once, as Kubernetes does: the link `..data` is replaced by a rename. */
const publish = (changed: Partial<typeof contents>): void => {
  Object.assign(contents, changed);
  const version = join(volume, `..${(versions += 1)}`);
  mkdirSync(version);
  for (const [name, text] of Object.entries(contents)) {
    writeFileSync(join(version, name), text);
  }
  symlinkSync(version, join(volume, '..new'));
  renameSync(join(volume, '..new'), join(volume, '..data'));
};
const linesOf = (server: Server, msg: string): string[] =>
  server
    .logs()
    .split('\n')
    .filter((line) => line.includes(msg));
/** Waits for both replicas: until then one admits what the other refuses. */
const publishValid = async (changed: Partial<typeof contents>): Promise<void> => {
  const changes = () => [one, other].map((at) => linesOf(at, 'changed rules are in use').length);
  const before = changes();
  publish(changed);
  await fixture.until('both use the rules', () =>
    changes().every((count, at) => count > (before[at] ?? 0)),
  );
};
const publishRules = (allow: object, change: object = {}): Promise<void> =>
  publishValid({ 'providers.json': fixture.providers({ allow, ...change }) });
const publishCertificateRules = (rules: object): Promise<void> =>
  publishValid({ 'certificates.json': JSON.stringify(rules) });
const predict = async (rules: object, { accountId }: Login) => {
  const user = await createCliUser();
  const [file, variables] = [join(user.home, 'rules.json'), join(user.home, 'new.env')];
  writeFileSync(file, JSON.stringify(rules));
  const own = { ...fixture.env, ...fixture.store.env, ...env };
  const changed = { ...own, SERVICE_FEATURE_AUTH_MTLS__RULES_PATH: file };
  const lines = Object.entries(changed).map(([name, value]) => `${name}='${value}'`);
  writeFileSync(variables, lines.join('\n'));
  const plan = ['policy', 'plan', '--file', variables, '--json'];
  const { stdout } = await user.run(plan, own);
  const server = { GATEHOUSE_ADMIN_URL: adminUrl, GATEHOUSE_ADMIN_TOKEN: tokens.reader };
  // The server uses the content of the file, which it could not read before.
  expect(JSON.parse((await user.run(plan, server)).stdout)).toEqual(JSON.parse(stdout));
  const explained = await user.run(['policy', 'explain', accountId], own);
  return { plan: JSON.parse(stdout) as Json, explanation: explained.stdout };
};
const everyoneBut = (...left: readonly Person[]): object => ({
  groupsAny: ['staff'],
  usersAllowlist: [...fixture.provider.groups.keys()]
    .filter((sub) => !left.some((person) => person.sub === sub))
    .map((sub) => `sub:${sub}`),
});

const fixture = await OffboardingFixture.open();
const volume = await mkdtemp(join(tmpdir(), 'gatehouse-rules-'));
for (const name of Object.keys(contents)) {
  symlinkSync(join('..data', name), join(volume, name));
}
publish({
  'providers.json': fixture.providers(),
  'certificates.json': JSON.stringify(EVERYONE),
});
const env = {
  ...mtlsEnv({ RULES_PATH: join(volume, 'certificates.json') }),
  ...KEYLESS,
  AUTH_PROVIDERS_CONFIG_JSON: '',
  AUTH_PROVIDERS_CONFIG_PATH: join(volume, 'providers.json'),
  // The intervals are so long that only a test causes a re-check or a closed connection.
  AUTH_OFFBOARDING_INTERVAL_SECONDS: '86400',
  AUTH_ACCESS_CACHE_SECONDS: '15',
  METRICS_TOKEN,
};
const tokens = await AdminTokensFile.create();
const [one, other] = await Promise.all([
  fixture.start({ ...env, ...tokens.env }),
  fixture.start(env),
]);
const adminUrl = await adminUrlOf(one);
afterAll(() => fixture.close());

describe('allow rules that change while the servers run', () => {
  const liveAt = async (server: Server, { token }: Login): Promise<LiveClient> => {
    const live = await connect(server, { token });
    await live.next('hello');
    return live;
  };
  const bothAnswer = (person: Login, status: number): Promise<void> =>
    fixture.until(`${status} on both`, async () => {
      const found = await Promise.all([one, other].map((at) => fixture.statusOf(at, person)));
      return found.every((answer) => answer === status);
    });
  const unusedFiles = async (server: Server): Promise<string | undefined> => {
    const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
    return /^gatehouse_configuration_files_unused (\d)$/m.exec(text)?.[1];
  };
  const bothUnused = (count: string): Promise<void> =>
    fixture.until(`${count} unused files`, async () =>
      (await Promise.all([one, other].map(unusedFiles))).every((found) => found === count),
    );

  it('ends the sessions of people that the new rules refuse, on every replica, and checks no others', async () => {
    const [leaver, stays] = [await fixture.keylessLogin(one), await fixture.keylessLogin(one)];
    const [lost, kept] = [await liveAt(other, leaver), await liveAt(one, stays)];
    await publishRules(everyoneBut(leaver));
    expect(await lost.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'people' });
    expect(await lost.disconnected).toBe('io server disconnect');
    await bothAnswer(leaver, 403);
    await bothAnswer(leaver, 403);
    await expect(fixture.keylessLogin(one, 'not-listed-1')).rejects.toThrow('invalid-request');
    await expect(fixture.keylessLogin(other, 'not-listed-2')).rejects.toThrow('invalid-request');
    expect(kept.socket.connected).toBe(true);
    expect(fixture.provider.checks.get(stays.sub)).toBeUndefined();

    await publishRules({ groupsAny: ['staff'] });
    await bothAnswer(leaver, 200);
    kept.close();
  });

  it('ends a session by the last answer of a provider that is unavailable now', async () => {
    const leaver = await fixture.keylessLogin(one);
    const live = await liveAt(other, leaver);
    fixture.provider.isDown = true;
    await publishRules({ groupsAny: ['directors'] });
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible' });
    await bothAnswer(leaver, 403);
    fixture.provider.isDown = false;
    await publishRules({ groupsAny: ['staff'] });
    await bothAnswer(leaver, 200);
  });

  it('ends the sessions of 25 of 50 people, each once', async () => {
    const people = await Promise.all(Array.from({ length: 50 }, () => fixture.keylessLogin(one)));
    const lives = await Promise.all(
      people.map((person, at) => liveAt(at % 2 === 0 ? one : other, person)),
    );
    const [leavers, stays] = [people.slice(0, 25), people.slice(25)];
    await publishRules(everyoneBut(...leavers));
    const ended = await Promise.all(lives.slice(0, 25).map((live) => live.next('closing')));
    expect(new Set(ended.map((frame) => (frame as { code: string }).code))).toEqual(
      new Set(['not-eligible']),
    );
    await Promise.all(leavers.map((person) => bothAnswer(person, 403)));
    const { rows } = await fixture.sql.query<{ accountId: string; reason: string }>(
      `SELECT account_id AS "accountId", reason FROM audit_event
       WHERE kind = 'eligibility-lost' AND account_id = ANY($1)`,
      [people.map(({ accountId }) => accountId)],
    );
    expect(rows.map(({ accountId }) => accountId).sort()).toEqual(
      leavers.map(({ accountId }) => accountId).sort(),
    );
    expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set(['user_not_allowed']));
    expect(stays.map(({ sub }) => fixture.provider.checks.get(sub))).toEqual(
      stays.map(() => undefined),
    );
    expect(lives.slice(25).every(({ socket }) => socket.connected)).toBe(true);
    lives.slice(25).forEach((live) => live.close());
    await publishRules({ groupsAny: ['staff'] });
  });

  it('keeps the current rules while a file is invalid or missing, and reports it', async () => {
    const person = await fixture.keylessLogin(one);
    const live = await liveAt(other, person);
    const valid = contents['providers.json'];
    const user = await createCliUser();
    await bothUnused('0');
    const invalid: [text: string, reason: string][] = [
      [valid.slice(0, -20), 'not valid JSON'],
      ['{}', 'must be a JSON array'],
      [fixture.providers({ allow: { groupAny: ['directors'] } }), 'did you mean groupsAny'],
    ];
    const bothFind = (reason: string): Promise<void> =>
      fixture.until(reason, () =>
        [one, other].every((at) =>
          linesOf(at, 'changed rules are not used').some((line) => line.includes(reason)),
        ),
      );
    for (const [text, reason] of invalid) {
      publish({ 'providers.json': text });
      await bothFind(reason);
      await bothUnused('1');
      const check = await user.run(['config', 'check'], {
        ...fixture.env,
        ...fixture.store.env,
        ...env,
      });
      expect(check.code).not.toBe(0);
      expect(check.stdout + check.stderr).toContain(reason);
      expect((await fixture.keylessLogin(other, person.sub)).accountId).toBe(person.accountId);
    }
    publish({ 'providers.json': valid, 'certificates.json': '{"allowedIssuers":[]}' });
    await bothFind('allowedEmailDomains is missing');
    publish({ 'certificates.json': JSON.stringify(EVERYONE) });
    await bothUnused('0');
    rmSync(join(volume, '..data'));
    await bothFind('does not exist');
    await bothUnused('1');
    expect(one.logs()).not.toContain('a-secret-of-the-people-provider');
    expect(live.socket.connected).toBe(true);
    publish({});
    await bothUnused('0');
    expect(await fixture.statusOf(other, person)).toBe(200);
    live.close();
  });

  it('applies only changed rules, and logs which changes need a restart', async () => {
    const leaver = await fixture.keylessLogin(one);
    const live = await liveAt(one, leaver);
    const { body } = await call(one, 'GET', '/v1/features');
    await publishRules(everyoneBut(leaver), { displayName: 'Renamed', clientSecret: 'another' });
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible' });
    const [line = '{}'] = linesOf(one, 'changes that a restart applies');
    expect(JSON.parse(line)).toMatchObject({ providers: ['people', 'guild'] });
    expect(one.logs()).not.toContain('another');
    expect((await call(one, 'GET', '/v1/features')).body).toEqual(body);
    await publishRules({ groupsAny: ['staff'] });
    await bothAnswer(leaver, 200);
  });

  it('ends the sessions of certificates that the new rules refuse, and shows the rules in discovery', async () => {
    const logInAs = (server: Server, email: string) =>
      callFrom(PROXY, server, [['x-service-client-cert-email', email]]);
    const login = async (email: string): Promise<Login> => {
      const { status, body } = await logInAs(one, email);
      expect(status).toBe(200);
      return body as unknown as Login;
    };
    const [leaver, stays] = [await login('a@left.example'), await login('b@corp.example')];
    const [lost, kept] = [await liveAt(other, leaver), await liveAt(one, stays)];
    const isRestricted = async (server: Server): Promise<boolean> =>
      JSON.stringify((await call(server, 'GET', '/v1/features')).body).includes(
        '"method":"mtls","action":"login","mode":"keyless","restricted":true',
      );
    expect(await isRestricted(other)).toBe(false);
    const changed = { allowedIssuers: [], allowedEmailDomains: ['CORP.example'] };
    const { plan, explanation } = await predict(changed, leaver);
    expect(plan).toMatchObject({ lose: 1, gain: 0, unknown: 0, examples: [leaver.accountId] });
    expect(explanation).toContain('By these rules: eligible.');
    const half = { SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS: 'corp.example' };
    const answer = await call({ url: adminUrl }, 'POST', '/admin/v1/policy/plan', {
      ...{ token: tokens.reader, body: { environment: half } },
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { details: [{ path: expect.stringContaining('ALLOWED_ISSUERS') }] },
    });
    await publishCertificateRules(changed);
    expect(await lost.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'mtls' });
    await bothAnswer(leaver, 403);
    expect((await predict(changed, leaver)).explanation).toContain(
      'By these rules: ineligible (domain_not_allowed).',
    );
    for (const server of [one, other]) {
      const refused = await logInAs(server, 'a@left.example');
      expect(refused).toMatchObject({ status: 403, body: { code: 'not-eligible' } });
      expect(await isRestricted(server)).toBe(true);
    }
    expect(kept.socket.connected).toBe(true);
    await publishCertificateRules(EVERYONE);
    await bothAnswer(leaver, 200);
    kept.close();
  });
});
