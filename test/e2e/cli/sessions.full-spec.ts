import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deviceLink } from '../../../src/packages/client/devices/device-link.js';
import { startLocalServer } from '../../helpers/local-server.js';
import { type CliUser, createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { challengedLogin, call, logIn, makeDeviceKey, type Json } from '../../helpers/client.js';

let user: CliUser;
/** Another account, whose token the commands of `user` receive. */
let owner: CliUser;
let given: { readonly accountId: string; readonly token: string };

const server = await startServer();

afterAll(() => server.stop());

beforeEach(async () => {
  [user, owner] = await Promise.all([createCliUser(), createCliUser()]);
  await ok(user, ['signup', '--server', server.url]);
  await ok(owner, ['signup', '--server', server.url]);
  given = await storedSession(owner);
});

async function ok(one: CliUser, args: readonly string[], env: Record<string, string> = {}) {
  const result = await one.run([...args, '--json'], env);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(result.stdout) as Record<string, unknown>;
}

const withToken = (args: readonly string[], one = user) =>
  ok(one, args, { GATEHOUSE_TOKEN: given.token });

async function filesOf({ configDirectory }: CliUser): Promise<Record<string, string>> {
  const entries = await readdir(configDirectory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile());
  const read = paths.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path, await readFile(path, 'utf8')] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

async function storedSession(one: CliUser) {
  const files = Object.entries(await filesOf(one));
  const text = files.find(([path]) => path.endsWith('/session.json'))?.[1] ?? '{}';
  return JSON.parse(text) as { readonly accountId: string; readonly token: string };
}

describe('GATEHOUSE_TOKEN', () => {
  it('uses GATEHOUSE_TOKEN in place of the stored login, and never stores it', async () => {
    const before = await filesOf(user);
    expect(await withToken(['whoami'])).toMatchObject({ id: given.accountId });
    await withToken(['tokens', 'add', 'phone']);
    expect(await ok(owner, ['tokens', 'list'])).toMatchObject({ token: 'phone' });
    expect(await user.run(['tokens', 'list', '--json'])).toMatchObject({ code: 0, stdout: '' });
    expect(await filesOf(user)).toEqual(before);
    const fresh = await createCliUser();
    const args = ['whoami', '--server', server.url];
    expect(await withToken(args, fresh)).toMatchObject({ id: given.accountId });
    await expect(filesOf(fresh)).rejects.toMatchObject({ code: 'ENOENT' });
    const nowhere = await fresh.run(['whoami'], { GATEHOUSE_TOKEN: given.token });
    expect(nowhere).toMatchObject({ code: 2, stdout: '' });
    expect(nowhere.stderr).toContain('--server');
  });

  it('revokes only the session of GATEHOUSE_TOKEN on logout, and keeps the stored login', async () => {
    const other = await createCliUser();
    await cp(owner.configDirectory, other.configDirectory, { recursive: true });
    await ok(other, ['login', '--server', server.url]);
    const before = await filesOf(user);
    expect(await withToken(['logout'])).toMatchObject({ accountId: given.accountId });
    expect(await filesOf(user)).toEqual(before);
    expect(await ok(user, ['whoami'])).not.toMatchObject({ id: given.accountId });
    expect(await ok(other, ['whoami'])).toMatchObject({ id: given.accountId });
    const ended = await user.run(['tokens', 'list'], { GATEHOUSE_TOKEN: given.token });
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain('GATEHOUSE_TOKEN is not accepted');
  });

  it('deletes the account of GATEHOUSE_TOKEN, and keeps the stored login of another', async () => {
    const before = await filesOf(user);
    await withToken(['delete-account', '--yes']);
    expect(await filesOf(user)).toEqual(before);
    expect(await ok(user, ['whoami'])).toHaveProperty('id');
    expect(await owner.run(['whoami'])).toMatchObject({ code: 3 });
  });

  it('refuses a token that no header can hold, and does not print it', async () => {
    const env = { GATEHOUSE_TOKEN: 'first-line\nsecond-line' };
    const { code, stdout, stderr } = await user.run(['whoami'], env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('GATEHOUSE_TOKEN');
    expect(stderr).not.toContain('line');
  });

  it('does not send GATEHOUSE_TOKEN to a server that only a link names', async () => {
    const requests: unknown[] = [];
    const stranger = await startLocalServer((request) => {
      requests.push(request);
      return { status: 404, json: {} };
    });
    const publicKey = Buffer.alloc(32, 1).toString('base64url');
    const linkSecret = Buffer.alloc(32, 2).toString('base64url');
    const facts = { userCode: 'WDJB-MJHT', publicKey, linkSecret };
    const link = deviceLink({ serverUrl: stranger.url, ...facts });
    for (const action of ['approve', 'refuse']) {
      const env = { GATEHOUSE_TOKEN: given.token };
      const { code, stderr } = await user.run(['devices', action, link], env);
      expect(code).toBe(3);
      expect(stderr).toContain(`Not signed in to ${stranger.url}`);
    }
    expect(requests).toEqual([]);
    await stranger.close();
  });
});

/** A person at a computer, whose phone is signed in, too. */
async function signInTwice() {
  const person = await createCliUser();
  const key = makeDeviceKey();
  const { token } = await logIn(server, key);
  const client = { name: 'Phone of Ada', platform: 'ios' };
  const body = { ...(await challengedLogin(server, key)), client };
  const phone = await call(server, 'POST', '/v1/auth', { body });
  const run = (...args: string[]) =>
    person.run(['devices', ...args], { GATEHOUSE_SERVER: server.url, GATEHOUSE_TOKEN: token });
  const listed = async (): Promise<Json[]> =>
    (await run('list', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
  return { run, listed, phoneToken: String(phone.body['token']) };
}

const statusOf = async (token: string) =>
  (await call(server, 'GET', '/v1/account/profile', { token })).status;

describe('gatehouse devices', () => {
  it('lists where the account is signed in, without a subcommand, too', async () => {
    const { run, listed } = await signInTwice();
    expect(await listed()).toEqual([
      expect.objectContaining({
        client: { name: 'Phone of Ada', platform: 'ios' },
        current: false,
      }),
      expect.objectContaining({ method: 'key_challenge', current: true }),
    ]);
    const { code, stdout } = await run();
    const [phone, here] = stdout.split('\n');
    expect(code).toBe(0);
    expect(phone).toMatch(/^[\da-f]{8} {2}Phone of Ada {2}.* UTC with the device key$/);
    expect(here).toContain('now, here');
  });

  it('signs one out by the beginning of its id', async () => {
    const { run, listed, phoneToken } = await signInTwice();
    const [{ id } = {}] = await listed();
    expect(await statusOf(phoneToken)).toBe(200);
    const { code, stdout } = await run('end', String(id).slice(0, 8));
    expect([code, stdout]).toEqual([0, `Signed Phone of Ada out (${String(id)}).\n`]);
    expect(await statusOf(phoneToken)).toBe(401);
    expect(await listed()).toEqual([expect.objectContaining({ current: true })]);
  });

  it('refuses its own session, a short beginning and an unknown one', async () => {
    const { run, listed, phoneToken } = await signInTwice();
    const [, { id } = {}] = await listed();
    const codes: number[] = [];
    for (const begin of [String(id), 'abc', 'none-of-them']) {
      codes.push((await run('end', begin)).code ?? -1);
    }
    expect(codes).toEqual([2, 2, 1]);
    expect([await statusOf(phoneToken), (await listed()).length]).toEqual([200, 2]);
  });
});
