import { call, challengedLogin, logIn, loginBody, makeDeviceKey } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { OWN_PROCESS, startServer } from '../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../helpers/wait.js';
import { DeviceCalls } from '../../helpers/device-calls.js';

let server = await startServer({ host: OWN_PROCESS });

afterAll(() => server.stop());

const tokensOf = async (token: string): Promise<unknown> =>
  (await call(server, 'GET', '/v1/push-tokens', { token })).body['tokens'];

it('logs when it is ready and no routine steps, with the names of its parts', async () => {
  await server.logged(/The database is ready/);
  const parts = [...server.logs().matchAll(/"context":"([^"]+)"/g)].map(([, name]) => name);
  expect(parts).toContain('StorageLifecycleService');
  expect(
    parts.filter((name) => !['StorageLifecycleService', 'Gatehouse'].includes(String(name))),
  ).toEqual([]);
});

it('logs settings that would lock people out at their severity', async () => {
  const locked = await startServer({ env: { SERVICE_PRESET: 'enterprise-keyless-only' } });
  try {
    await locked.logged(/The database is ready/);
    const logged = [
      ...locked
        .logs()
        .matchAll(/"level":"(\w+)".*"msg":"(.*okta|No account can be created|The storage policy)/g),
    ];
    expect(logged.map(([, level]) => level)).toEqual(['error', 'error', 'warn', 'info']);
  } finally {
    await locked.stop();
  }
});

describe.each(['SIGKILL', 'SIGTERM'] as const)('a server that ends by %s', (signal) => {
  it('keeps all data after a restart', async () => {
    const key = makeDeviceKey();
    const login = await logIn(server, key);
    const loggedOut = await logIn(server, key);
    await call(server, 'POST', '/v1/auth/logout', loggedOut);
    const { body: issued } = await call(server, 'POST', '/v1/auth/challenge');
    const used = Buffer.from(String(issued['challenge']), 'base64');
    await call(server, 'POST', '/v1/auth', { body: loginBody(key, used) });
    const device = await new DeviceCalls(server).newDevice();
    for (const token of ['a', 'b']) {
      await call(server, 'POST', '/v1/push-tokens', { ...login, body: { token } });
    }
    const before = await tokensOf(login.token);

    const exit = await server.kill(signal);
    expect(exit).toEqual(signal === 'SIGTERM' ? { code: 0, signal: null } : { code: null, signal });
    server = await server.restart();

    expect(await tokensOf(login.token)).toEqual(before);
    expect(before).toHaveLength(2);
    expect(await logIn(server, key)).toMatchObject({ accountId: login.accountId, created: false });
    const revoked = await call(server, 'GET', '/v1/push-tokens', loggedOut);
    expect(revoked.body['code']).toBe('token-revoked');
    const again = await call(server, 'POST', '/v1/auth', { body: loginBody(key, used) });
    expect(again.body['code']).toBe('challenge-expired');
    const devices = new DeviceCalls(server);
    expect((await devices.approve(device.id, login.token)).status).toBe(200);
    expect((await devices.claim(device.id, device.proof)).body['state']).toBe('approved');
    const live = await connect(server, { token: login.token });
    expect(await live.next('hello')).toEqual({ accountId: login.accountId, seq: 2 });
    live.close();
  });

  it('keeps every acknowledged sign-up of a restart under load', async () => {
    const acknowledged: { key: ReturnType<typeof makeDeviceKey>; accountId: string }[] = [];
    const signUpUntilCut = async (): Promise<void> => {
      for (;;) {
        const key = makeDeviceKey();
        const answer = await challengedLogin(server, key)
          .then((body) => call(server, 'POST', '/v1/auth', { body }))
          .catch(() => null);
        if (answer === null) {
          return;
        }
        if (answer.status === 200) {
          acknowledged.push({ key, accountId: String(answer.body['accountId']) });
        }
      }
    };
    const load = Array.from({ length: 8 }, signUpUntilCut);
    await waitFor('enough sign-ups', () => acknowledged.length > 10);
    await server.kill(signal);
    await Promise.all(load);
    server = await server.restart();
    for (const { key, accountId } of acknowledged.slice(-50)) {
      expect(await logIn(server, key)).toMatchObject({ accountId, created: false });
    }
  });
});
