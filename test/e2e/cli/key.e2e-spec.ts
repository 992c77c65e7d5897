import { parseDeviceKey } from '../../../src/packages/client/crypto/key-text.js';
import { type CliUser, createCliUser, useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';

const user = useCliUser();

const server = await startServer();
afterAll(() => server.stop());

describe('gatehouse key', () => {
  const keyOf = async (owner: CliUser): Promise<string> =>
    (await owner.run(['key', 'show'])).stdout;

  const runAs = async (owner: CliUser, command: string): Promise<object> => {
    const { stdout } = await owner.run([command, '--server', server.url, '--json']);
    return JSON.parse(stdout) as object;
  };
  const signUp = (owner: CliUser) => runAs(owner, 'signup');
  const logIn = (owner: CliUser) => runAs(owner, 'login');

  const restoreAt = (other: CliUser, secret: string) =>
    other.run(['key', 'restore', '--server', server.url, '--json'], {}, secret);

  it('restores the account on another computer', async () => {
    const { accountId } = (await signUp(user)) as { accountId: string };
    const { stdout, stderr } = await user.run(['key', 'show']);
    expect(stdout).toMatch(/^gatekey1[02-9ac-hj-np-z]{58}\n$/);
    expect(stderr).toContain('This key gives access to the account');
    const other = await createCliUser();
    expect(await restoreAt(other, stdout)).toMatchObject({ code: 0 });
    expect(await logIn(other)).toMatchObject({ accountId, created: false });
  });

  it('restores a key in the older format', async () => {
    const { accountId } = (await signUp(user)) as { accountId: string };
    const { secret } = JSON.parse((await user.run(['key', 'show', '--json'])).stdout) as {
      secret: string;
    };
    const older = Buffer.from(parseDeviceKey(secret)).toString('base64url');
    const other = await createCliUser();
    expect(await restoreAt(other, older)).toMatchObject({ code: 0 });
    expect(await logIn(other)).toMatchObject({ accountId, created: false });
  });

  it('refuses a key with a mistyped character, and stores nothing', async () => {
    await signUp(user);
    const key = (await keyOf(user)).trim();
    const mistyped = `${key.slice(0, -1)}${key.endsWith('q') ? 'p' : 'q'}`;
    const other = await createCliUser();
    const { code, stderr } = await restoreAt(other, mistyped);
    expect(code).toBe(2);
    expect(stderr).toContain('typing mistake');
    expect(stderr).not.toContain(mistyped.slice(8, 20));
    expect((await other.run(['key', 'show', '--server', server.url])).code).toBe(3);
  });

  it('never replaces a stored key by another', async () => {
    await signUp(user);
    const other = await createCliUser();
    await signUp(other);
    const before = await keyOf(other);
    const mine = await keyOf(user);
    expect(await restoreAt(other, mine)).toMatchObject({ code: 1, stdout: '' });
    expect(await restoreAt(user, mine)).toMatchObject({ code: 0 });
    expect(await keyOf(other)).toBe(before);
  });

  it('removes a key only with --yes, and keeps the account', async () => {
    const { accountId } = (await signUp(user)) as { accountId: string };
    const secret = await keyOf(user);
    const refused = await user.run(['key', 'remove']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('gatehouse key show --server');
    expect(await keyOf(user)).toBe(secret);
    expect(await user.run(['key', 'remove', '--yes'])).toMatchObject({ code: 0 });
    expect(await user.run(['key', 'show'])).toMatchObject({ code: 3, stdout: '' });
    expect(await user.run(['key', 'remove', '--yes'])).toMatchObject({ code: 3 });
    expect(await restoreAt(user, secret)).toMatchObject({ code: 0 });
    expect(await logIn(user)).toMatchObject({ accountId, created: false });
  });

  it('suggests the server of a restored key to those who are not logged in', async () => {
    expect(await restoreAt(user, 'A'.repeat(43))).toMatchObject({ code: 0 });
    const { code, stderr } = await user.run(['whoami']);
    expect(code).toBe(3);
    expect(stderr).toBe(
      `gatehouse: Not signed in.\n  Run: gatehouse login --server ${server.url}\n`,
    );
    expect((await user.run(['login'])).stderr).toContain(`--server ${server.url}\n`);
  });

  it('refuses any other text as a key, and does not print it', async () => {
    const { code, stdout, stderr } = await restoreAt(user, 'no key');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'usage' } });
    expect(stderr).not.toContain('no key"');
  });

  it('asks for a key where none is stored', async () => {
    const { code, stderr } = await user.run(['key', 'show', '--server', server.url]);
    expect(code).toBe(3);
    expect(stderr).toContain('gatehouse signup --server');
    expect(stderr).toContain('gatehouse key restore --server');
  });
});
