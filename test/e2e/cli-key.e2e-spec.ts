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
  const keyOf = async (someone: CliUser): Promise<string> =>
    (await someone.run(['key', 'show'])).stdout;

  const logIn = async (someone: CliUser): Promise<object> => {
    const { stdout } = await someone.run(['login', '--server', server.url, '--json']);
    return JSON.parse(stdout) as object;
  };

  /** Brings a key to another computer, at the same server. */
  const restoreAt = (other: CliUser, secret: string) =>
    other.run(['key', 'restore', '--server', server.url, '--json'], {}, secret);

  it('is the account on another computer', async () => {
    const { accountId } = (await logIn(user)) as { accountId: string };
    const { stdout, stderr } = await user.run(['key', 'show']);
    expect(stdout).toMatch(/^[\w-]{43}\n$/);
    expect(stderr).toContain('This key gives access to the account');
    const other = await createCliUser();
    expect(await restoreAt(other, stdout)).toMatchObject({ code: 0 });
    expect(await logIn(other)).toMatchObject({ accountId, created: false });
    await other.remove();
  });

  it('is never replaced by another', async () => {
    await logIn(user);
    const other = await createCliUser();
    await logIn(other);
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
    expect(stderr).toContain('gatehouse login --server');
  });
});
