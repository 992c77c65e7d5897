import { randomBytes } from 'node:crypto';
import { call, expectErrorShape, logIn, type Login, refusalOf } from '../../../helpers/client.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import {
  BEHIND_PROXY,
  DeviceCalls,
  hashOf,
  makeX25519Key,
  newAddress,
  SEALED,
} from '../../../helpers/device-calls.js';
import { startLoginFixture } from '../../../fixtures/provider-login-fixture.js';
import { keylessLogin, OPTIONAL } from '../../../helpers/keyless-calls.js';

const TEN_MINUTES_MS = 600_000;
const NOT_FOUND = { status: 404, code: 'not-found' };
const UNKNOWN_ID = '6f6a2f0e-1f55-4a0e-8d5f-6f3f4e5a6b7c';

let login: Login;

const server = await startServer({ env: BEHIND_PROXY });
const devices = new DeviceCalls(server);
beforeEach(async () => {
  login = await logIn(server);
});

afterAll(() => server.stop());

describe('adding a device', () => {
  it('gives a device a session of its own and the sealed account, once', async () => {
    const client = { name: 'The new phone', platform: 'ios' };
    const device = await devices.newDevice({ client });
    expect((await devices.claim(device.id, device.proof)).body).toEqual({ state: 'pending' });
    const found = await devices.find(device.userCode, login.token);
    expect(found.body).toEqual({
      ...{ v: 2, origins: [] },
      id: device.id,
      publicKey: device.publicKey,
      client,
      address: device.address,
      createdAt: expect.any(Number),
    });
    expect((await devices.approve(device.id, login.token)).body).toEqual({ success: true });

    const { status, body } = await devices.claimInTime(device);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        state: 'approved',
        token: expect.any(String),
        accountId: login.accountId,
        sealed: SEALED,
      },
    });
    const token = String(body['token']);
    const { body: listed } = await call(server, 'GET', '/v1/account/sessions', { token });
    expect(listed['sessions']).toEqual([
      expect.objectContaining({ method: 'device', client, address: device.address, current: true }),
      expect.objectContaining({ method: 'key_challenge', current: false }),
    ]);
    expect(refusalOf(await devices.claim(device.id, device.proof))).toEqual(NOT_FOUND);
    const sessionId = (listed['sessions'] as { id: string }[])[0]?.id;
    await server.logged(new RegExp(`"kind":"device-approved".*"accountId":"${login.accountId}"`));
    await server.logged(
      new RegExp(`"kind":"logged-in".*"provider":"device","sessionId":"${sessionId}"`),
    );
  });

  it('begins with a typeable user code that lasts ten minutes', async () => {
    const before = Date.now();
    const body = { v: 2, publicKey: makeX25519Key(), proofHash: hashOf('x'), unknown: 1 };
    const answers = await Promise.all(Array.from({ length: 50 }, () => devices.request(body)));
    const codes = answers.map((answer) => String(answer.body['userCode']));
    expect(new Set(codes).size).toBe(50);
    for (const { status, body: asked } of answers) {
      expect({ status, asked }).toEqual({
        status: 200,
        asked: {
          ...{ v: 2, origins: [] },
          id: expect.any(String),
          userCode: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
          expiresAt: expect.any(Number),
          intervalSeconds: 3,
        },
      });
      expect(asked['expiresAt']).toBeGreaterThanOrEqual(before + TEN_MINUTES_MS);
      expect(asked['expiresAt']).toBeLessThanOrEqual(Date.now() + TEN_MINUTES_MS);
    }
  });

  it('finds the device by its code in any case, with the dash or without', async () => {
    const { id, userCode } = await devices.newDevice();
    for (const typed of [userCode.toLowerCase(), userCode.replace('-', '')]) {
      expect((await devices.find(typed, login.token)).body).toMatchObject({
        id,
        client: { name: null, platform: null },
      });
    }
  });

  it('finds no device that is unknown or answered', async () => {
    const [approved, refused] = [await devices.newDevice(), await devices.newDevice()];
    await devices.approve(approved.id, login.token);
    await devices.refuse(refused.id, login.token);
    for (const code of ['BBBB-BBBB', approved.userCode, refused.userCode, approved.id, 'x']) {
      const answer = await devices.find(code, login.token);
      expect({ asked: code, ...refusalOf(answer) }).toEqual({ asked: code, ...NOT_FOUND });
      expectErrorShape(answer);
    }
  });

  it('refuses a device for good, from any account', async () => {
    const device = await devices.newDevice();
    expect((await devices.refuse(device.id, login.token)).body).toEqual({ success: true });
    expect((await devices.claimInTime(device)).body).toEqual({ state: 'refused' });
    for (const again of [
      await devices.approve(device.id, login.token),
      await devices.refuse(device.id, login.token),
    ]) {
      expect(refusalOf(again)).toEqual({ status: 409, code: 'already-answered' });
      expectErrorShape(again);
    }
    expect((await devices.claimInTime(device)).body).toEqual({ state: 'refused' });
    await server.logged(new RegExp(`"kind":"device-refused".*"accountId":"${login.accountId}"`));
  });

  it('accepts exactly one of 50 simultaneous approvals', async () => {
    const device = await devices.newDevice();
    const sealed = Array.from({ length: 50 }, () => randomBytes(80).toString('base64url'));
    const answers = await Promise.all(
      sealed.map((secret) => devices.approve(device.id, login.token, { sealed: secret })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body['code'] === 'already-answered')).toHaveLength(49);
    const { body } = await devices.claimInTime(device);
    expect(body['sealed']).toBe(sealed[statuses.indexOf(200)]);
  });

  it('issues one token to 50 simultaneous claims with the right proof', async () => {
    const device = await devices.newDevice();
    await devices.approve(device.id, login.token);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => devices.claim(device.id, device.proof)),
    );
    expect(answers.filter(({ body }) => body['state'] === 'approved')).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 200).map(refusalOf);
    expect(refused).toEqual(Array(49).fill(NOT_FOUND));
    const { body } = await call(server, 'GET', '/v1/account/sessions', login);
    expect(body['sessions']).toHaveLength(2);
  });

  it('requires a token for every action of an account', async () => {
    const device = await devices.newDevice();
    for (const answer of [
      await devices.find(device.userCode),
      await devices.approve(device.id),
      await devices.refuse(device.id),
    ]) {
      expect(refusalOf(answer)).toEqual({ status: 401, code: 'missing-token' });
    }
    expect((await devices.claimInTime(device)).body).toEqual({ state: 'pending' });
  });

  it.each(['x', '%00', `${UNKNOWN_ID}0`, UNKNOWN_ID])('finds no device %s', async (id) => {
    for (const answer of [
      await devices.approve(id, login.token),
      await devices.refuse(id, login.token),
      await devices.claim(id, 'proof'),
    ]) {
      expect(refusalOf(answer)).toEqual(NOT_FOUND);
      expectErrorShape(answer);
    }
  });

  it('accepts the key and the secret in every base64 encoding', async () => {
    const raw = Buffer.concat([Buffer.from('fbefbe', 'hex'), randomBytes(29)]);
    const device = await devices.newDevice({ publicKey: raw.toString('base64') });
    const found = await devices.find(device.userCode, login.token);
    expect(found.body['publicKey']).toBe(raw.toString('base64url'));
    await devices.approve(device.id, login.token, { sealed: raw.toString('base64') });
    expect((await devices.claimInTime(device)).body['sealed']).toBe(raw.toString('base64url'));
  });
});

describe('requests to add a device that are invalid', () => {
  const bytes = (length: number): string => randomBytes(length).toString('base64');

  it.each([
    ...[
      ['nothing', ''],
      ['3 bytes', 'AAAA'],
      ['no base64', '!'],
    ],
    ...[
      ['31 bytes', bytes(31)],
      ['33 bytes', bytes(33)],
    ],
  ])('refuses %s as a key', async (_name, publicKey) => {
    const answer = await devices.request({ v: 2, publicKey, proofHash: hashOf('x') });
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-public-key' });
  });

  it.each([undefined, null, 1, 3, '2', [2]])('refuses version %j of a new device', async (v) => {
    const answer = await devices.request({ v, publicKey: makeX25519Key(), proofHash: hashOf('x') });
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    const message = expect.stringContaining('the app of the new device') as unknown;
    expect(answer.body['details']).toEqual([{ path: 'v', message }]);
  });

  it.each([
    ...[null, 7, [], {}, 'A'.repeat(65)].map((publicKey) => ({ publicKey })),
    ...[undefined, null, 7, {}, '', 'a'.repeat(63), 'g'.repeat(64)].map((proofHash) => ({
      proofHash,
    })),
    ...[null, 'x', [], { name: 7 }, { name: 'x'.repeat(65) }, { platform: '\u0000' }].map(
      (client) => ({ client }),
    ),
  ])('refuses a request with %j', async (wrong) => {
    const body = { v: 2, publicKey: makeX25519Key(), proofHash: hashOf('x'), ...wrong };
    const answer = await devices.request(body);
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    expectErrorShape(answer);
  });

  it.each<[string, unknown]>([
    ...[undefined, null, '', 7, {}, '!', 'a\u0000b', '\ud800'].map((wrong): [string, unknown] => [
      JSON.stringify(wrong) ?? 'nothing',
      wrong,
    ]),
    ['more than 1 KiB', bytes(1025)],
    ['wrong padding', bytes(1024).replace('==', '=')],
  ])('refuses %s as the sealed account', async (_name, sealed) => {
    const device = await devices.newDevice();
    const answer = await devices.approve(device.id, login.token, { sealed });
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    expect(answer.body['details']).toMatchObject([{ path: 'sealed' }]);
    expect((await devices.approve(device.id, login.token)).status).toBe(200);
  });

  it('relays a sealed account of up to 1 KiB', async () => {
    const device = await devices.newDevice();
    const sealed = randomBytes(1024).toString('base64url');
    expect((await devices.approve(device.id, login.token, { sealed })).status).toBe(200);
    expect((await devices.claimInTime(device)).body).toMatchObject({ sealed });
  });

  it.each([undefined, null, '', 7, {}, 'x'.repeat(1025)])('refuses the proof %j', async (proof) => {
    const device = await devices.newDevice();
    const answer = await devices.claim(device.id, proof);
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    expect((await devices.claimInTime(device)).body).toEqual({ state: 'pending' });
  });
});

describe('guessing a user code', () => {
  const LIMITED = { status: 429, code: 'rate-limited' };

  it('ends after three misses of one account, from wherever', async () => {
    const device = await devices.newDevice();
    for (let guesses = 0; guesses < 3; guesses += 1) {
      expect(refusalOf(await devices.find('BBBB-BBBB', login.token))).toEqual(NOT_FOUND);
    }
    const answer = await devices.find(device.userCode, login.token);
    expect(refusalOf(answer)).toEqual(LIMITED);
    expectErrorShape(answer);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(600);
    const other = await logIn(server);
    expect((await devices.find(device.userCode, other.token)).status).toBe(200);
  });

  it('ends after three misses of one account, when fifty guess at once', async () => {
    const guesses = Array.from({ length: 50 }, () => devices.find('BBBB-BBBB', login.token));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(3);
    expect(statuses.filter((status) => status === 429)).toHaveLength(47);
  });

  it('ends after sixty misses from one address, and not for the rest of an office', async () => {
    const device = await devices.newDevice();
    const address = newAddress();
    const tokens = await Promise.all(
      Array.from({ length: 21 }, async () => (await logIn(server)).token),
    );
    const guesses = tokens.flatMap((token) =>
      Array.from({ length: 3 }, () => devices.find('BBBB-BBBB', token, address)),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(60);
    expect(refusalOf(await devices.find(device.userCode, login.token, address))).toEqual(LIMITED);
    expect((await devices.find(device.userCode, login.token)).status).toBe(200);
  });

  it('does not count what is found: a hundred devices are looked up from one office', async () => {
    const address = newAddress();
    const waiting = await Promise.all(Array.from({ length: 100 }, () => devices.newDevice()));
    const answers = await Promise.all(
      waiting.map(({ userCode }) => devices.find(userCode, login.token, address)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

it('adds a device to an account without a key, which is sealed too', async () => {
  const fixture = await startLoginFixture({ env: { ...OPTIONAL, ...BEHIND_PROXY } });
  try {
    const keyless = new DeviceCalls(fixture.server);
    const { body: owner } = await keylessLogin(fixture.server, 'anna');
    const token = String(owner['token']);
    const device = await keyless.newDevice();
    const answer = await keyless.approve(device.id, token, {});
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    expect(answer.body['details']).toMatchObject([{ path: 'sealed' }]);
    expect((await keyless.approve(device.id, token)).status).toBe(200);
    expect((await keyless.claimInTime(device)).body).toEqual({
      state: 'approved',
      token: expect.any(String),
      accountId: owner['accountId'],
      sealed: SEALED,
    });
  } finally {
    await fixture.stop();
  }
});

it('names the configured origins, and never that of a request', async () => {
  const env = {
    SERVICE_PUBLIC_URL: 'https://gate.example.org/base',
    SERVICE_LOGIN_ORIGINS: 'http://gate.svc:3000',
  };
  const named = await startServer({ env });
  try {
    const headers = { host: 'evil.example', origin: 'https://evil.example' };
    const body = { v: 2, publicKey: makeX25519Key(), proofHash: hashOf('x') };
    const asked = await call(named, 'POST', '/v2/auth/devices', { body, headers });
    const origins = ['https://gate.example.org', 'http://gate.svc:3000'];
    expect(asked.body).toMatchObject({ v: 2, origins });
    const { token } = await logIn(named);
    const path = `/v2/auth/devices/${String(asked.body['userCode'])}`;
    const found = await call(named, 'GET', path, { token });
    expect(found.body).toMatchObject({ v: 2, origins });
  } finally {
    await named.stop();
  }
});
