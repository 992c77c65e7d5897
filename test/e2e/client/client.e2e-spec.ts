import {
  AccountContent,
  authChoices,
  ContentUnreadable,
  DeviceKey,
  GatehouseClient,
  type UpdateScope,
} from '../../../src/packages/client/index.js';
import { closeAll, listen } from './client-listener.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';

let client: GatehouseClient;
let key: DeviceKey;
let token: string;
let accountId: string;

let server = await startServer({ env: { PORT: String(await freePort()) } });

afterAll(() => server.stop());

beforeEach(async () => {
  key = await DeviceKey.generate();
  ({ token, accountId } = await new GatehouseClient({ serverUrl: server.url }).signUp(key));
  client = new GatehouseClient({ serverUrl: server.url, token });
});

afterEach(closeAll);

describe('the content of an account', () => {
  it('opens on another device with the key, and is stored sealed', async () => {
    const settings = { theme: 'dark', secret: 'of this account' };
    const content = new AccountContent(key.bytes, accountId);
    const c = content.sealSettings(1, settings);
    await client.settings.write({ t: 'encrypted', c }, 0);
    const token1 = content.seal('credential:github', { token: 'ghp_1' });
    await client.credentials.put('github', { t: 'encrypted', c: token1 });

    const visitor = new GatehouseClient({ serverUrl: server.url });
    const sameKey = await DeviceKey.fromSecret(key.secret);
    const login = await visitor.logIn(sameKey);
    const other = visitor.withToken(login.token);
    const opener = new AccountContent(sameKey.bytes, login.accountId);
    const stored = await other.settings.read();
    expect(JSON.stringify(stored)).not.toContain('dark');
    expect(stored.content).toMatchObject({ t: 'encrypted' });
    const { value } = opener.openSettings(
      stored.content?.t === 'encrypted' ? stored.content.c : '',
    );
    expect(value).toEqual(settings);
    const { content: credential } = await other.credentials.find('github');
    const sealed = credential.t === 'encrypted' ? credential.c : '';
    expect(opener.open('credential:github', sealed)).toEqual({ token: 'ghp_1' });
    expect(() => opener.openSettings(sealed)).toThrow(ContentUnreadable);
  });

  it('refuses a login with a key that has no account, and creates none', async () => {
    const visitor = new GatehouseClient({ serverUrl: server.url });
    const login = visitor.logIn(await DeviceKey.generate());
    await expect(login).rejects.toMatchObject({ code: 'not-found', status: 404 });
  });
});

describe('connectUpdates against a server', () => {
  it.each<UpdateScope>([
    {},
    { clientType: 'session-scoped', sessionId: 's1' },
    { clientType: 'machine-scoped', machineId: 'm1' },
  ])('receives every change as %j', async (scope) => {
    const listener = listen({ serverUrl: server.url, token }, scope);
    expect(await listener.next('connected')).toEqual({ accountId, seq: 0 });
    await client.savePushToken('one');
    await client.removePushToken('one');
    for (const seq of [1, 2]) {
      expect(await listener.next('update')).toMatchObject({
        seq,
        body: { t: 'push-tokens-changed' },
      });
    }
    expect(listener.connection.position).toBe(2);
    expect(await listener.connection.isAlive(120_000)).toBe(true);
    expect(listener.events.map(([name]) => name)).toEqual(['connected', 'update', 'update']);
  });

  it('reports the updates that were missed while it was disconnected', async () => {
    const first = listen({ serverUrl: server.url, token });
    await first.next('connected');
    await client.savePushToken('one');
    await first.next('update');
    const lastSeq = first.connection.position ?? -1;
    first.connection.close();
    await client.savePushToken('two');
    await client.savePushToken('three');
    const second = listen({ serverUrl: server.url, token, lastSeq });
    expect(await second.next('gap')).toEqual({ from: 2, to: 3, isReset: false });
    expect(second.connection.position).toBe(3);
    expect(first.events.map(([name]) => name)).toEqual(['connected', 'update']);
  });

  it('notices an account that counts from an earlier point', async () => {
    const listener = listen({ serverUrl: server.url, token, lastSeq: 40 });
    expect(await listener.next('gap')).toEqual({ from: 1, to: 0, isReset: true });
  });

  it('stops when the token is revoked, and does not reconnect', async () => {
    const listener = listen({ serverUrl: server.url, token });
    await listener.next('connected');
    await client.logOut();
    expect(await listener.next('stopped')).toMatchObject({ status: 401, code: 'token-revoked' });
    expect(listener.events.map(([name]) => name)).toEqual(['connected', 'stopped']);
    expect(await listener.connection.isAlive(50)).toBe(false);
  });

  it('stops at a handshake that is refused for good', async () => {
    const listener = listen({ serverUrl: server.url, token: 'nonsense' });
    expect(await listener.next('stopped')).toMatchObject({ status: 401, code: 'invalid-token' });
    expect(listener.events).toHaveLength(1);
  });

  it('waits where connections are refused', async () => {
    const listener = listen({ serverUrl: 'http://127.0.0.1:1', token });
    const [problem, delay] = (await listener.next('waiting')) as [unknown, number];
    expect(problem).toBeNull();
    expect(delay).toBeGreaterThanOrEqual(500);
  });
});

describe('connectUpdates against a server that restarts', () => {
  it('reconnects, and every update is either received or reported as missed', async () => {
    const listener = listen({ serverUrl: server.url, token });
    await listener.next('connected');
    const [, waiting] = await Promise.all([server.kill('SIGTERM'), listener.next('waiting')]);
    expect(waiting).toEqual([expect.objectContaining({ code: 'unavailable' }), expect.any(Number)]);
    server = await server.restart();
    client = new GatehouseClient({ serverUrl: server.url, token });
    await client.savePushToken('maybe while it was away');
    await listener.next('connected');
    await client.savePushToken('now');
    const known = (): number[] =>
      listener.events.flatMap(([name, fact]) => {
        const { seq, from, to } = fact as Readonly<Record<string, number | undefined>>;
        const numbers = name === 'connected' ? [] : [seq, from, to];
        return numbers.filter((number) => number !== undefined);
      });
    while (!known().includes(2)) {
      await listener.next('update');
    }
    expect(new Set(known())).toEqual(new Set([1, 2]));
    expect(listener.connection.position).toBe(2);
  });
});

describe('login through the choices a server advertises', () => {
  it('advertises exactly the choices that the server accepts', async () => {
    const { deviceKey, providers } = authChoices(await client.features());
    expect(deviceKey).toEqual({ canLogIn: true, canSignUp: true, canSignUpInvited: false });
    expect(providers).toEqual([]);
    expect(await client.logIn(key)).toMatchObject({ accountId, created: false });
  });
});
