import { parseDeviceKey } from '../../src/client/crypto/key-text.js';
import { type CliUser, createCliUser } from '../helpers/cli.js';
import { type Server, startServer } from '../helpers/server.js';

let server: Server;
let user: CliUser;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  user = await createCliUser();
});
afterEach(() => user.remove());

describe('gatehouse key', () => {
  const keyOf = async (owner: CliUser): Promise<string> =>
    (await owner.run(['key', 'show'])).stdout;

  const runAs = async (owner: CliUser, command: string): Promise<object> => {
    const { stdout } = await owner.run([command, '--server', server.url, '--json']);
    return JSON.parse(stdout) as object;
  };
  const signUp = (owner: CliUser) => runAs(owner, 'signup');
  const logIn = (owner: CliUser) => runAs(owner, 'login');

  /** Brings a key to another computer, at the same server. */
  const restoreAt = (other: CliUser, secret: string) =>
    other.run(['key', 'restore', '--server', server.url, '--json'], {}, secret);

  it('is the account on another computer', async () => {
    const { accountId } = (await signUp(user)) as { accountId: string };
    const { stdout, stderr } = await user.run(['key', 'show']);
    expect(stdout).toMatch(/^gatekey1[02-9ac-hj-np-z]{58}\n$/);
    expect(stderr).toContain('This key gives access to the account');
    const other = await createCliUser();
    expect(await restoreAt(other, stdout)).toMatchObject({ code: 0 });
    expect(await logIn(other)).toMatchObject({ accountId, created: false });
    await other.remove();
  });

  it('is read in the older form, too', async () => {
    const { accountId } = (await signUp(user)) as { accountId: string };
    const { secret } = JSON.parse((await user.run(['key', 'show', '--json'])).stdout) as {
      secret: string;
    };
    const older = Buffer.from(parseDeviceKey(secret)).toString('base64url');
    const other = await createCliUser();
    expect(await restoreAt(other, older)).toMatchObject({ code: 0 });
    expect(await logIn(other)).toMatchObject({ accountId, created: false });
    await other.remove();
  });

  it('is refused with a mistyped character, and nothing is stored', async () => {
    await signUp(user);
    const key = (await keyOf(user)).trim();
    const mistyped = `${key.slice(0, -1)}${key.endsWith('q') ? 'p' : 'q'}`;
    const other = await createCliUser();
    const { code, stderr } = await restoreAt(other, mistyped);
    expect(code).toBe(2);
    expect(stderr).toContain('typing mistake');
    expect(stderr).not.toContain(mistyped.slice(8, 20));
    expect((await other.run(['key', 'show', '--server', server.url])).code).toBe(3);
    await other.remove();
  });

  it('is never replaced by another', async () => {
    await signUp(user);
    const other = await createCliUser();
    await signUp(other);
    const before = await keyOf(other);
    const mine = await keyOf(user);
    expect(await restoreAt(other, mine)).toMatchObject({ code: 1, stdout: '' });
    expect(await restoreAt(user, mine)).toMatchObject({ code: 0 });
    expect(await keyOf(other)).toBe(before);
    await other.remove();
  });

  it.each(['', 'no key', 'x'.repeat(10_000)])('is not taken from %j', async (input) => {
    const { code, stdout, stderr } = await restoreAt(user, input);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'usage' } });
    expect(stderr).not.toContain('no key"');
  });

  it('is asked for where there is none', async () => {
    const { code, stderr } = await user.run(['key', 'show', '--server', server.url]);
    expect(code).toBe(3);
    expect(stderr).toContain('gatehouse signup --server');
    expect(stderr).toContain('gatehouse key restore --server');
  });
});
