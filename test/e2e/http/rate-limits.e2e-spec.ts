import { fromSomewhere } from '../../helpers/device-calls.js';
import {
  call,
  challengedLogin,
  expectErrorShape,
  logIn,
  makeDeviceKey,
  type Answer,
} from '../../helpers/client.js';
import { openWebSocket } from '../../helpers/raw-websocket.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { sessionIdOf } from '../../fixtures/sessions-fixture.js';

const LIMITS = {
  SERVICE_TRUSTED_PROXIES: '127.0.0.1,10.200.0.1',
  SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: '30',
  SERVICE_RATE_LIMIT_PER_ACCOUNT_PER_MINUTE: '12',
  AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE: '5',
  SERVICE_UPDATES_HANDSHAKE_RATE_LIMIT_PER_IP_PER_MINUTE: '3',
};

const server = await startServer({ env: LIMITS });

afterAll(() => server.stop());

/** Logs in, which counts twice: the challenge counts, too. */
async function signIn(headers: Readonly<Record<string, string>>): Promise<Answer> {
  const body = await challengedLogin(server, makeDeviceKey(), { headers });
  return call(server, 'POST', '/v1/auth', { headers, body });
}

function expectLimited(answer: Answer): void {
  expect({ status: answer.status, code: answer.body['code'] }).toEqual({
    status: 429,
    code: 'rate-limited',
  });
  expectErrorShape(answer);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
}

async function repeat(count: number, act: () => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, act));
}

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);

describe('rate limits', () => {
  it('counts requests per address, whether good, refused or malformed', async () => {
    const headers = fromSomewhere();
    const read = () => call(server, 'GET', '/v1/account/profile', { headers });
    expect(statuses(await repeat(15, read))).toEqual(Array(15).fill(401));
    await repeat(15, () => call(server, 'POST', '/v1/push-tokens', { headers, body: '{' }));
    expectLimited(await read());
    const elsewhere = { headers: fromSomewhere() };
    expect((await call(server, 'GET', '/v1/account/profile', elsewhere)).status).toBe(401);
  });

  it.each(['/v1/features', '/livez', '/readyz'])(
    'does not limit %s, because refusing costs as much as answering',
    async (path) => {
      const headers = fromSomewhere();
      const answers = await repeat(40, () => call(server, 'GET', path, { headers }));
      expect(statuses(answers)).toEqual(Array(40).fill(200));
    },
  );

  it('counts login and sign-up per address, good or bad', async () => {
    const headers = fromSomewhere();
    const bad = () => call(server, 'POST', '/v1/auth', { headers, body: {} });
    await repeat(2, bad);
    expect((await signIn(headers)).status).toBe(200);
    expect((await bad()).status).toBe(400);
    expectLimited(await bad());
    expectLimited(await call(server, 'POST', '/v1/auth/challenge', { headers }));
    expectLimited(await call(server, 'POST', '/v2/auth/devices', { headers, body: {} }));
    expect((await call(server, 'GET', '/v1/features', { headers })).status).toBe(200);
  });

  it('ignores an address that the client sent to the proxy', async () => {
    const headers = fromSomewhere();
    const spoofed = (index: number) => ({
      'x-forwarded-for': `6.6.6.${index}, ${headers['x-forwarded-for']}`,
    });
    for (let index = 0; index < 5; index += 1) {
      await call(server, 'POST', '/v1/auth', { headers: spoofed(index), body: {} });
    }
    expectLimited(await call(server, 'POST', '/v1/auth', { headers: spoofed(9), body: {} }));
  });

  it.each([
    ['a new port for each connection', (address: string, index: number) => `${address}:47${index}`],
    ['brackets and a port', (_address: string, index: number) => `[2001:db8:0:9::1]:47${index}`],
    [
      'texts that are no address',
      (_address: string, index: number) => `client-${index}, 10.200.0.1`,
    ],
  ])('counts a client once when the proxy reports %s', async (_what, forwarded) => {
    const address = fromSomewhere()['x-forwarded-for'] ?? '';
    const attempt = (index: number) => {
      const headers = { 'x-forwarded-for': forwarded(address, index) };
      return call(server, 'POST', '/v1/auth', { headers, body: {} });
    };
    for (let index = 0; index < 5; index += 1) {
      expect((await attempt(index)).status).toBe(400);
    }
    expectLimited(await attempt(5));
  });

  it('reads the address of a proxy behind a thousand headers of the client', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => (1296 + index).toString(36));
    const many = Object.fromEntries(names.map((name) => [name, '']));
    const attempt = (from: Readonly<Record<string, string>>) =>
      call(server, 'POST', '/v1/auth', { headers: { ...many, ...from }, body: {} });
    const headers = fromSomewhere();
    for (let index = 0; index < 5; index += 1) {
      expect((await attempt(headers)).status).toBe(400);
    }
    expectLimited(await attempt(headers));
    expect((await attempt(fromSomewhere())).status).toBe(400);
  });

  it('counts handshakes once per client when the proxy reports ports', async () => {
    const address = fromSomewhere()['x-forwarded-for'];
    const answers: number[] = [];
    for (let port = 4711; port < 4715; port += 1) {
      const headers = { 'x-forwarded-for': `${address}:${port}` };
      answers.push(
        await openWebSocket(server, headers).then(
          (socket) => {
            socket.destroy();
            return 101;
          },
          () => 429,
        ),
      );
    }
    expect(answers).toEqual([101, 101, 101, 429]);
  });

  it('counts authenticated requests per session, wherever they come from', async () => {
    const headers = fromSomewhere();
    const { body } = await signIn(headers);
    const token = String(body['token']);
    const read = () => call(server, 'GET', '/v1/push-tokens', { token, headers: fromSomewhere() });
    expect(statuses(await repeat(6, read))).toEqual(Array(6).fill(200));
    expectLimited(await read());
    const profile = await call(server, 'GET', '/v1/account/profile', {
      token,
      headers: fromSomewhere(),
    });
    expectLimited(profile);
  });

  it('leaves half of the requests of an account to the sessions that end a thief', async () => {
    const key = makeDeviceKey();
    const enter = async (): Promise<string> => {
      const headers = fromSomewhere();
      const body = await challengedLogin(server, key, { headers });
      const { status, body: login } = await call(server, 'POST', '/v1/auth', { headers, body });
      expect(status).toBe(200);
      return String(login['token']);
    };
    const [thief, owner, third] = [await enter(), await enter(), await enter()];
    const as = (token: string, method: string, path: string) =>
      call(server, method, path, { token, headers: fromSomewhere() });
    const stolen = [];
    for (let count = 0; count < 14; count += 1) {
      stolen.push((await as(thief, 'GET', '/v1/push-tokens')).status);
    }
    expect(stolen.filter((status) => status === 200)).toHaveLength(6);
    const own = await repeat(5, () => as(owner, 'GET', '/v1/push-tokens'));
    expect(statuses(own)).toEqual(Array(5).fill(200));
    const end = `/v1/account/sessions/${sessionIdOf(thief)}`;
    expect((await as(owner, 'DELETE', end)).status).toBe(200);
    // The account has a limit, too, however many sessions share it.
    const others = await repeat(3, () => as(third, 'GET', '/v1/push-tokens'));
    expect(statuses(others)).toEqual([429, 429, 429]);
  });

  it('counts an IPv6 network as one address, and IPv4 mapped into IPv6 as IPv4', async () => {
    const attempt = (address: string) =>
      call(server, 'POST', '/v1/auth', { headers: { 'x-forwarded-for': address }, body: {} });
    for (let host = 1; host <= 5; host += 1) {
      expect((await attempt(`2001:db8:0:1::${host}`)).status).toBe(400);
    }
    expectLimited(await attempt('2001:db8:0:1:ffff:ffff:ffff:ffff'));
    expect((await attempt('2001:db8:0:2::1')).status).toBe(400);
    const address = fromSomewhere()['x-forwarded-for'];
    for (let count = 0; count < 5; count += 1) {
      await attempt(count % 2 === 0 ? address : `::ffff:${address}`);
    }
    expectLimited(await attempt(address));
    expectLimited(await attempt(`::ffff:${address}`));
  });

  it('does not reveal to other callers that an account is limited', async () => {
    await expect(logIn(server)).resolves.toMatchObject({ success: true });
  });
});
