import { call, logIn, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { AccountCalls, OPTIONAL_PLAIN, plain } from '../../helpers/account-calls.js';
import { DeviceCalls } from '../../helpers/device-calls.js';

const server = await startServer({ env: OPTIONAL_PLAIN });

afterAll(() => server.stop());

describe('an account', () => {
  it('is deleted with its tokens, live connections and content', async () => {
    const key = makeDeviceKey();
    const { token, accountId } = await logIn(server, key);
    const other = await logIn(server, key);
    const account = new AccountCalls(server, token);
    await account.writeSettingsV2(plain('mine'), 0);
    await account.putCredential('github', plain('mine'));
    await call(server, 'POST', '/v1/push-tokens', { token, body: { token: 'x' } });
    const live = await connect(server, { token: other.token });

    const { status, body } = await account.removeAccount();
    expect({ status, body }).toEqual({ status: 200, body: { success: true } });
    expect(await live.next('closing')).toMatchObject({ code: 'token-revoked' });
    await live.disconnected;
    for (const gone of [token, other.token]) {
      const refused = refusalOf(await call(server, 'GET', '/v1/push-tokens', { token: gone }));
      expect(refused).toEqual({ status: 401, code: 'token-revoked' });
    }

    const again = await logIn(server, key);
    expect(again.created).toBe(true);
    expect(again.accountId).not.toBe(accountId);
    const fresh = new AccountCalls(server, again.token);
    expect((await fresh.settingsV2()).body).toEqual({ content: null, version: 0 });
    expect((await fresh.credentials()).body).toEqual({ credentials: [] });
  });

  it('is deleted while it is in use, with no answer but that it is gone', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { token } = await logIn(server);
      const account = new AccountCalls(server, token);
      const devices = new DeviceCalls(server);
      const { id } = await devices.newDevice();
      const answers = await Promise.all([
        account.removeAccount(),
        devices.approve(id, token),
        call(server, 'POST', '/v1/push-tokens', { token, body: { token: 'x' } }),
        account.putCredential('github', plain('mine')),
        call(server, 'POST', '/v1/auth/logout', { token }),
      ]);
      const refused = answers.filter(({ status }) => status !== 200).map(refusalOf);
      for (const refusal of refused) {
        expect(refusal).toEqual({ status: 401, code: 'token-revoked' });
      }
    }
  });

  it('is deleted once, and no other account with it', async () => {
    const [one, two] = [await logIn(server), await logIn(server)];
    const endings = await Promise.all(
      Array.from({ length: 10 }, () => new AccountCalls(server, one.token).removeAccount()),
    );
    for (const { status } of endings) {
      expect([200, 401]).toContain(status);
    }
    expect(endings.some(({ status }) => status === 200)).toBe(true);
    expect((await new AccountCalls(server, two.token).settingsV2()).status).toBe(200);
    await server.logged(new RegExp(`"kind":"account-deleted".*${one.accountId}`));
    const trail = server.logs().match(/"kind":"account-deleted"[^\n]*/g) ?? [];
    expect(trail.filter((line) => line.includes(one.accountId))).toHaveLength(1);
  });
});
