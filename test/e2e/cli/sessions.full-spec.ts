import { useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { challengedLogin, call, logIn, makeDeviceKey, type Json } from '../../helpers/client.js';

const server = await startServer();
afterAll(() => server.stop());

const user = useCliUser();

/** A person at a computer, whose phone is signed in, too. */
async function signInTwice() {
  const key = makeDeviceKey();
  const { token } = await logIn(server, key);
  const client = { name: 'Phone of Ada', platform: 'ios' };
  const body = { ...(await challengedLogin(server, key)), client };
  const phone = await call(server, 'POST', '/v1/auth', { body });
  const run = (...args: string[]) =>
    user.run(['devices', ...args], { GATEHOUSE_SERVER: server.url, GATEHOUSE_TOKEN: token });
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
