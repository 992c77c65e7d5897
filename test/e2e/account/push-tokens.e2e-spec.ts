import { setTimeout as sleep } from 'node:timers/promises';
import { call, expectErrorShape, logIn, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { endSession, sessionIdOf } from '../../fixtures/sessions-fixture.js';

interface PushToken {
  readonly id: string;
  readonly token: string;
  readonly clientServerUrl: string | null;
  readonly name: string | null;
  readonly platform: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

let token: string;

const server = await startServer();

afterAll(() => server.stop());

beforeEach(async () => {
  ({ token } = await logIn(server));
});

const save = (pushToken: unknown, clientServerUrl?: unknown, device: object = {}) =>
  call(server, 'POST', '/v1/push-tokens', {
    token,
    body: { token: pushToken, clientServerUrl, ...device },
  });

const list = async (bearer = token): Promise<readonly PushToken[]> => {
  const { status, body } = await call<{ tokens: PushToken[] }>(server, 'GET', '/v1/push-tokens', {
    token: bearer,
  });
  expect(status).toBe(200);
  return body.tokens;
};

const remove = (pathSegment: string, bearer = token) =>
  call(server, 'DELETE', `/v1/push-tokens/${pathSegment}`, { token: bearer });

const names = async (): Promise<string[]> => (await list()).map((entry) => entry.token);

/** Two saves in the same millisecond have no order. */
async function saveInOrder(pushTokens: readonly string[]): Promise<void> {
  for (const pushToken of pushTokens) {
    expect((await save(pushToken)).status).toBe(200);
    await sleep(2);
  }
}

/** Returns a short title for this value. */
const named = <Value>(value: Value): [string, Value] => [
  (JSON.stringify(value) ?? 'undefined').slice(0, 30),
  value,
];

describe('push tokens', () => {
  it('returns no push tokens for a new account', async () => {
    expect(await list()).toEqual([]);
  });

  it('saves a push token with the address that the app uses', async () => {
    const before = Date.now();
    const answer = await save('ExponentPushToken[abc]', 'https://gate.example/x');
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { success: true },
    });
    const [saved] = await list();
    expect(saved).toEqual({
      id: expect.stringMatching(/./),
      token: 'ExponentPushToken[abc]',
      clientServerUrl: 'https://gate.example/x',
      name: null,
      platform: null,
      createdAt: expect.any(Number),
      updatedAt: saved?.createdAt,
    });
    expect(saved?.createdAt).toBeGreaterThanOrEqual(before);
    expect(saved?.createdAt).toBeLessThanOrEqual(Date.now());
  });

  it('lists push tokens newest first, and saving one again makes it the newest', async () => {
    await saveInOrder(['a', 'b', 'c']);
    expect(await names()).toEqual(['c', 'b', 'a']);
    const [, , a] = await list();
    await save('a', 'https://elsewhere.example');
    const [again] = await list();
    expect(await names()).toEqual(['a', 'c', 'b']);
    expect(again).toMatchObject({
      id: a?.id,
      createdAt: a?.createdAt,
      clientServerUrl: 'https://elsewhere.example',
    });
    expect(again?.updatedAt).toBeGreaterThan(a?.updatedAt ?? 0);
  });

  it('stores at most 100 and removes the least recently used', async () => {
    await saveInOrder(Array.from({ length: 100 }, (_value, index) => `t${index}`));
    await save('t0');
    await sleep(2);
    await save('one more');
    const left = await names();
    expect(left).toHaveLength(100);
    expect(left.slice(0, 2)).toEqual(['one more', 't0']);
    expect(left).not.toContain('t1');
    expect(left).toContain('t2');
  });

  it('keeps at most 100 push tokens when 30 more are saved simultaneously', async () => {
    await Promise.all(Array.from({ length: 90 }, (_value, index) => save(`t${index}`)));
    const answers = await Promise.all(Array.from({ length: 30 }, (_v, index) => save(`u${index}`)));
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
    expect(await list()).toHaveLength(100);
  });

  it('keeps one push token when it is saved 20 times simultaneously', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => save('same')));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(await names()).toEqual(['same']);
  });

  it('keeps push tokens by account: two may have the same one, and neither removes it from the other', async () => {
    await save('shared');
    const other = (await logIn(server)).token;
    expect(await list(other)).toEqual([]);
    expect((await remove('shared', other)).body).toEqual({ success: true });
    expect(await names()).toEqual(['shared']);
  });

  it('removes a push token, whether it exists or not', async () => {
    await saveInOrder(['a', 'b']);
    const answers = [await remove('a'), await remove('a'), await remove('never-saved')];
    expect(answers.map(({ status, body }) => ({ status, body }))).toEqual(
      Array(3).fill({ status: 200, body: { success: true } }),
    );
    expect(await names()).toEqual(['b']);
  });

  it.each(
    [
      'a/b',
      '../../etc/passwd',
      '..',
      '.',
      '%',
      '%2F',
      '%25',
      '?x=1',
      '#x',
      'a b',
      '+',
      "'; DROP TABLE push_token; --",
      '👩‍👩‍👧'.replaceAll('\u200d', ''),
      'é',
      'e\u0301',
      '日本語',
      '[]{}<>"\\`|^',
      '__proto__',
      'constructor',
      'x'.repeat(1024),
      '€'.repeat(1024),
      '👍'.repeat(1024),
    ].map(named),
  )('stores and removes a push token by its path, unchanged: %s', async (_name, hostile) => {
    expect((await save(hostile)).status).toBe(200);
    expect(await names()).toEqual([hostile]);
    const { status } = await remove(encodeURIComponent(hostile).replaceAll('.', '%2E'));
    expect(status).toBe(200);
    expect(await list()).toEqual([]);
  });

  it.each(
    [
      '',
      'a\u0000b',
      'a\nb',
      '\u007f',
      '\u202e',
      '\u200b',
      '\u2028',
      '\ud800',
      '\udfff',
      'x'.repeat(1025),
      '👍'.repeat(1025),
      null,
      undefined,
      7,
      true,
      ['x'],
      { x: 1 },
    ].map(named),
  )('refuses a push token that is not 1 to 1024 printable characters: %s', async (_name, wrong) => {
    const answer = await save(wrong);
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    expect(answer.body['details']).toEqual([{ path: 'token', message: expect.any(String) }]);
    expectErrorShape(answer);
    expect(await list()).toEqual([]);
  });

  it.each(['a\u0000', 'x'.repeat(2049), 7, []].map(named))(
    'refuses %s as the address',
    async (_name, wrong) => {
      const answer = await save('a', wrong);
      expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
      expect(answer.body['details']).toEqual([
        { path: 'clientServerUrl', message: expect.any(String) },
      ]);
    },
  );

  it('keeps the address, name and platform that are omitted', async () => {
    const device = { name: "Anna's phone", platform: 'android' };
    await save('a', 'https://gate.example', device);
    const first = { clientServerUrl: 'https://gate.example', ...device };
    expect(await list()).toMatchObject([first]);
    await save('a');
    expect(await list()).toMatchObject([first]);
    await save('a', undefined, { name: 'Old phone' });
    expect(await list()).toMatchObject([{ ...first, name: 'Old phone' }]);
    await save('a', undefined, { name: null, platform: null });
    expect(await list()).toMatchObject([{ ...first, name: null, platform: null }]);
  });

  it.each(
    [
      ['name', ''],
      ['name', ' \u3000'],
      ['name', 'a\nb'],
      ['name', 'x'.repeat(65)],
      ['name', 7],
      ['platform', 'x'.repeat(33)],
      ['platform', '\u202e'],
    ].map(named),
  )('refuses a device of %s', async (_name, wrong) => {
    const [field, value] = wrong as [string, unknown];
    const answer = await save('a', undefined, { [field]: value });
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    expect(answer.body['details']).toEqual([{ path: field, message: expect.any(String) }]);
  });

  it('saves a push token without an address, and removes an address', async () => {
    await save('a', 'https://gate.example');
    await save('a', null);
    expect(await list()).toMatchObject([{ clientServerUrl: null }]);
  });

  it.each(
    [
      '%00',
      '%0a',
      '%ed%a0%80',
      '%e2%80%ae',
      '%',
      '%zz',
      '%ff',
      'x'.repeat(9000),
      'x'.repeat(14_000),
    ].map(named),
  )('answers a path that cannot be a token without a fault: %s', async (_name, segment) => {
    await save('kept');
    const answer = await remove(segment);
    expect([200, 400, 404, 414]).toContain(answer.status);
    if (answer.status !== 200) {
      expectErrorShape(answer);
    }
    expect(await names()).toEqual(['kept']);
  });

  it('requires a path with a token', async () => {
    const answer = await remove('');
    expect([200, 404]).toContain(answer.status);
  });
});

describe('push tokens of a session', () => {
  const saveAs = (bearer: string, pushToken: string) =>
    call(server, 'POST', '/v1/push-tokens', { token: bearer, body: { token: pushToken } });

  async function pair(): Promise<[lost: string, kept: string]> {
    const key = makeDeviceKey();
    return [(await logIn(server, key)).token, (await logIn(server, key)).token];
  }

  const left = async (bearer: string): Promise<string[]> =>
    (await list(bearer)).map((entry) => entry.token);

  it('removes the tokens of a session that its owner ends, and sends the update', async () => {
    const [lost, kept] = await pair();
    await saveAs(lost, 'of-the-lost-phone');
    await saveAs(kept, 'of-the-tablet');
    const live = await connect(server, { token: kept });
    const { seq } = (await live.next('hello')) as { seq: number };
    expect((await endSession(server, kept, sessionIdOf(lost))).status).toBe(200);
    expect(await left(kept)).toEqual(['of-the-tablet']);
    expect(await live.next('update')).toMatchObject({
      seq: seq + 1,
      body: { t: 'push-tokens-changed' },
    });
    await endSession(server, kept, sessionIdOf(lost));
    expect(live.waiting('update')).toBe(0);
    live.close();
  });

  it('removes the tokens of a session at its logout, and all of them at a logout everywhere', async () => {
    const [lost, kept] = await pair();
    await saveAs(lost, 'one');
    await saveAs(kept, 'two');
    await call(server, 'POST', '/v1/auth/logout', { token: lost });
    expect(await left(kept)).toEqual(['two']);
    const key = makeDeviceKey();
    const [first, second] = [await logIn(server, key), await logIn(server, key)];
    await saveAs(first.token, 'one');
    await saveAs(second.token, 'two');
    await call(server, 'POST', '/v1/auth/logout-everywhere', first);
    expect(await left((await logIn(server, key)).token)).toEqual([]);
  });

  it('belongs to the session that saved it last', async () => {
    const [lost, kept] = await pair();
    await saveAs(lost, 'moved');
    await saveAs(kept, 'moved');
    await saveAs(kept, 'taken');
    await saveAs(lost, 'taken');
    await endSession(server, kept, sessionIdOf(lost));
    expect(await left(kept)).toEqual(['moved']);
  });

  it('leaves no token when fifty are saved while the session is ended', async () => {
    const [lost, kept] = await pair();
    expect((await list(lost)).length).toBe(0);
    const saves = Array.from({ length: 50 }, (_value, index) => saveAs(lost, `t${index}`));
    const [ended, ...answers] = await Promise.all([
      endSession(server, kept, sessionIdOf(lost)),
      ...saves,
    ]);
    expect(ended.status).toBe(200);
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].every((status) => status === 200 || status === 401)).toBe(true);
    expect(await left(kept)).toEqual([]);
  });

  it('audits added and removed tokens by their last four characters', async () => {
    const [lost, kept] = await pair();
    await saveAs(lost, 'ExponentPushToken[secret-wxyz');
    await saveAs(lost, 'ExponentPushToken[secret-wxyz');
    await endSession(server, kept, sessionIdOf(lost));
    const facts = `"accountId":"[^"]+","sessionId":"${sessionIdOf(lost)}"`;
    for (const kind of ['push-token-added', 'push-token-removed']) {
      const line = await server.logged(new RegExp(`.*${facts}.*"kind":"${kind}".*`));
      expect(line[0]).toContain('"tokenEnd":"wxyz"');
    }
    expect(server.logs()).not.toContain('secret-wxyz');
  });
});

describe('the profile', () => {
  it('returns what the server knows of the account', async () => {
    const before = Date.now();
    const login = await logIn(server);
    const { status, body } = await call(server, 'GET', '/v1/account/profile', {
      token: login.token,
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        id: login.accountId,
        createdAt: expect.any(Number),
        keyMode: 'keyed',
        encryptionMode: 'e2ee',
        identities: [],
      },
    });
    expect(body['createdAt']).toBeGreaterThanOrEqual(before);
    expect(body['createdAt']).toBeLessThanOrEqual(Date.now());
  });

  it('saves and removes a push token simultaneously, and deletes the account meanwhile, without a deadlock', async () => {
    const pairs = Array.from({ length: 50 }, () => [save('same'), remove('same')]).flat();
    const statuses = (await Promise.all(pairs)).map(({ status }) => status);
    expect([...new Set(statuses)].sort()).toEqual([200]);
    await saveInOrder(['one', 'two']);
    const ending = call(server, 'DELETE', '/v1/account', { token });
    const removals = ['one', 'two', 'same'].map((name) => remove(name));
    const ends = (await Promise.all([ending, ...removals])).map(({ status }) => status);
    expect(ends[0]).toBe(200);
    expect(ends.filter((status) => status !== 200 && status !== 401)).toEqual([]);
  });
});
