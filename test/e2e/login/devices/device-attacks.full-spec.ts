import { Client } from 'pg';
import {
  call,
  expectErrorShape,
  logIn,
  makeDeviceKey,
  refusalOf,
} from '../../../helpers/client.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import {
  BEHIND_PROXY,
  DeviceCalls,
  hashOf,
  newAddress,
  SEALED,
  type NewDevice,
} from '../../../helpers/device-calls.js';

const NOT_FOUND = { status: 404, code: 'not-found' };
const INVALID_PROOF = { status: 400, code: 'invalid-proof' };
const ENV = {
  ...BEHIND_PROXY,
  // Changes by SQL have an immediate effect.
  AUTH_ACCESS_CACHE_SECONDS: '0',
  // A test waits for it.
  SERVICE_DATABASE_LOCK_TIMEOUT_MS: '5000',
};

const server = await startServer({ env: ENV });
const devices = new DeviceCalls(server);

afterAll(() => server.stop());

/** A device that an account approved, with two sessions of that account. */
async function parkedApproval() {
  const key = makeDeviceKey();
  const [owner, approver] = [await logIn(server, key), await logIn(server, key)];
  const device = await devices.newDevice();
  expect((await devices.approve(device.id, approver.token)).status).toBe(200);
  return { owner, approver, device };
}

const sessionsOf = async ({ token }: { token: string }): Promise<{ method: string }[]> => {
  const { body } = await call(server, 'GET', '/v1/account/sessions', { token });
  return body['sessions'] as { method: string }[];
};

describe('a third party that has seen the QR code', () => {
  it('learns no secret with which the token could be claimed', async () => {
    const [login, stranger] = [await logIn(server), await logIn(server)];
    const device = await devices.newDevice();
    const found = await devices.find(device.userCode, stranger.token);
    expect(found.text).not.toContain(hashOf(device.proof));
    await devices.approve(device.id, login.token);
    const guesses = ['x', device.publicKey, device.userCode, hashOf(device.proof), found.text];
    for (const proof of guesses) {
      const answer = await devices.claim(device.id, proof.slice(0, 1024));
      expect(refusalOf(answer)).toEqual(INVALID_PROOF);
      expectErrorShape(answer);
      expect(answer.text).not.toContain(SEALED);
    }
    // Wrong proofs are not counted: polling first, and often, does not delay the device.
    const { body } = await devices.claim(device.id, device.proof);
    expect(body).toMatchObject({ state: 'approved', accountId: login.accountId });
  });

  it('receives a separate request when it asks with the same key', async () => {
    const login = await logIn(server);
    const device = await devices.newDevice();
    const { body: other } = await devices.request({
      v: 2,
      publicKey: device.publicKey,
      proofHash: hashOf('of the third party'),
    });
    await devices.approve(device.id, login.token);
    const claimed = await devices.claim(String(other['id']), 'of the third party');
    expect(claimed.body).toEqual({ state: 'pending' });
    expect((await devices.claim(device.id, device.proof)).body['state']).toBe('approved');
  });
});

describe('an approval that was given with a stolen token and not claimed yet', () => {
  it('is invalid after logout-everywhere', async () => {
    const { owner, device } = await parkedApproval();
    expect((await call(server, 'POST', '/v1/auth/logout-everywhere', owner)).status).toBe(200);
    const { status, body } = await devices.claim(device.id, device.proof);
    expect({ status, body }).toEqual({ status: 200, body: { state: 'refused' } });
    expect(refusalOf(await devices.claim(device.id, device.proof))).toEqual(NOT_FOUND);
  });

  it('is invalid after the approving session has logged out', async () => {
    const { owner, approver, device } = await parkedApproval();
    await call(server, 'POST', '/v1/auth/logout', approver);
    expect((await devices.claim(device.id, device.proof)).body).toEqual({ state: 'refused' });
    expect((await sessionsOf(owner)).map(({ method }) => method)).toEqual(['key_challenge']);
  });

  it('is valid while the approving session lives, regardless of other sessions', async () => {
    const { owner, device } = await parkedApproval();
    await call(server, 'POST', '/v1/auth/logout', owner);
    expect((await devices.claim(device.id, device.proof)).body['state']).toBe('approved');
  });

  it('is deleted with the account', async () => {
    const { owner, device } = await parkedApproval();
    expect((await call(server, 'DELETE', '/v1/account', owner)).status).toBe(200);
    expect(refusalOf(await devices.claim(device.id, device.proof))).toEqual(NOT_FOUND);
  });

  it('leaves no session that a simultaneous logout-everywhere does not end', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { owner, device } = await parkedApproval();
      const [claimed, out] = await Promise.all([
        devices.claim(device.id, device.proof),
        call(server, 'POST', '/v1/auth/logout-everywhere', owner),
      ]);
      expect([claimed.status, out.status]).toEqual([200, 200]);
      if (claimed.body['state'] === 'approved') {
        const token = String(claimed.body['token']);
        const after = await call(server, 'GET', '/v1/account/profile', { token });
        expect(refusalOf(after)).toEqual({ status: 401, code: 'token-revoked' });
      }
    }
  });

  it('is claimed or gone when the account is deleted at the same moment, without a fault', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { owner, device } = await parkedApproval();
      const [claimed, deleted] = await Promise.all([
        devices.claim(device.id, device.proof),
        call(server, 'DELETE', '/v1/account', owner),
      ]);
      expect(deleted.status).toBe(200);
      if (claimed.status !== 200) {
        expect(refusalOf(claimed)).toEqual(NOT_FOUND);
      }
    }
  });
});

/** A server compares milliseconds, and `now()` may be a part of one ahead. */
const EXPIRED = "now() - interval '1 second'";
describe('states that only SQL can create', () => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({ connectionString: server.databaseUrl ?? '' });
    await client.connect();
  });
  afterAll(() => client.end());

  const setDevice = ({ id }: NewDevice, assignment: string) =>
    client.query(`UPDATE device_authorization SET ${assignment} WHERE id = $1`, [id]);

  it.each([
    ['a disabled account', 'UPDATE account SET disabled_at = now() WHERE id = $1'],
    // A server of the previous version revokes by the epoch only.
    ['a newer epoch', 'UPDATE account SET token_epoch = token_epoch + 1 WHERE id = $1'],
    ['expired sessions', `UPDATE session SET expires_at = ${EXPIRED} WHERE account_id = $1`],
  ])('refuses the claim of an approval by %s', async (_name, change) => {
    const { owner, device } = await parkedApproval();
    await client.query(change, [owner.accountId]);
    expect((await devices.claim(device.id, device.proof)).body).toEqual({ state: 'refused' });
    const { rows } = await client.query(
      `SELECT method FROM session WHERE account_id = $1 AND method = 'device'`,
      [owner.accountId],
    );
    expect(rows).toEqual([]);
  });

  it('accepts an approval only from a session that logged in a short time ago', async () => {
    const key = makeDeviceKey();
    const { token, accountId } = await logIn(server, key);
    await client.query(
      `UPDATE session SET created_at = now() - interval '16 minutes' WHERE account_id = $1`,
      [accountId],
    );
    const device = await devices.newDevice();
    const answer = await devices.approve(device.id, token);
    expect(refusalOf(answer)).toEqual({ status: 403, code: 'fresh-login-required' });
    expectErrorShape(answer);
    expect((await devices.claim(device.id, device.proof)).body).toEqual({ state: 'pending' });
    expect((await devices.find(device.userCode, token)).status).toBe(200);
    const fresh = await logIn(server, key);
    expect((await devices.approve(device.id, fresh.token)).status).toBe(200);
  });

  it('answers 404 for a request that has expired, answered or not', async () => {
    const login = await logIn(server);
    const { approver, device: approved } = await parkedApproval();
    const waiting = await devices.newDevice();
    await setDevice(approved, `expires_at = ${EXPIRED}`);
    await setDevice(waiting, `expires_at = ${EXPIRED}`);
    for (const answer of [
      await devices.find(waiting.userCode, login.token),
      await devices.approve(waiting.id, login.token),
      await devices.refuse(waiting.id, login.token),
      await devices.claim(waiting.id, waiting.proof),
      await devices.claim(approved.id, approved.proof),
    ]) {
      expect(refusalOf(answer)).toEqual(NOT_FOUND);
    }
    expect(await sessionsOf(approver)).toHaveLength(2);
  });

  it('refuses to be polled faster than the interval, approved or not', async () => {
    const { device: approved } = await parkedApproval();
    for (const device of [await devices.newDevice(), approved]) {
      // A clock that is ahead does not cause a longer delay.
      await setDevice(device, `polled_at = now() + interval '1 hour'`);
      const early = await devices.claim(device.id, device.proof);
      expect(refusalOf(early)).toEqual({ status: 429, code: 'rate-limited' });
      expect(early.headers['retry-after']).toBe('3');
      expect(refusalOf(await devices.claim(device.id, 'wrong'))).toEqual(INVALID_PROOF);
      // SQL stores microseconds, and the server milliseconds.
      await setDevice(device, `polled_at = now() - interval '3.001 seconds'`);
      expect((await devices.claim(device.id, device.proof)).status).toBe(200);
    }
  });

  it('is neither slowed nor changed by wrong proofs', async () => {
    const device = await devices.newDevice();
    const row = async (): Promise<unknown> =>
      (await client.query('SELECT * FROM device_authorization WHERE id = $1', [device.id])).rows;
    const before = await row();
    const wrong = await Promise.all(
      Array.from({ length: 50 }, (_value, index) => devices.claim(device.id, `wrong ${index}`)),
    );
    expect(wrong.map(refusalOf)).toEqual(Array(50).fill(INVALID_PROOF));
    expect(await row()).toEqual(before);
    expect((await devices.claim(device.id, device.proof)).body).toEqual({ state: 'pending' });
  });

  it('keeps an approval that did not reach the new device because of a database fault', async () => {
    const { owner, device } = await parkedApproval();
    await client.query('BEGIN');
    await client.query('LOCK TABLE session IN ACCESS EXCLUSIVE MODE');
    const fault = await devices.claim(device.id, device.proof);
    await client.query('ROLLBACK');
    expect(refusalOf(fault)).toEqual({ status: 503, code: 'unavailable' });
    expect(await sessionsOf(owner)).toHaveLength(2);
    const { body } = await devices.claim(device.id, device.proof);
    expect(body).toMatchObject({ state: 'approved', sealed: SEALED });
  });

  it('generates another user code where one is in use', async () => {
    const taken = (await devices.newDevice()).userCode.replace('-', '');
    await client.query(`CREATE SEQUENCE tries`);
    await client.query(`
      CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('tries') <= 2 THEN NEW.user_code := '${taken}'; END IF; RETURN NEW;
      END $$`);
    await client.query(`CREATE TRIGGER collide BEFORE INSERT ON device_authorization
      FOR EACH ROW EXECUTE FUNCTION collide()`);
    try {
      const device = await devices.newDevice();
      expect(device.userCode.replace('-', '')).not.toBe(taken);
      const { rows } = await client.query(`SELECT last_value::int AS tries FROM tries`);
      expect(rows).toEqual([{ tries: 3 }]);
    } finally {
      await client.query('DROP TRIGGER collide ON device_authorization');
    }
  });

  it('stores the account, session and address that answered', async () => {
    const { approver, device } = await parkedApproval();
    const other = await devices.newDevice();
    await devices.refuse(other.id, approver.token);
    await devices.claim(device.id, device.proof);
    const { rows } = await client.query(
      `SELECT kind, actor, provider, session_id IS NOT NULL AS session, address FROM audit_event
       WHERE account_id = $1 AND (kind LIKE 'device-%' OR provider = 'device') ORDER BY id`,
      [approver.accountId],
    );
    const from = expect.stringMatching(/^(10\.7\.|127\.0\.0\.1$)/) as unknown;
    expect(rows).toEqual([
      { kind: 'device-approved', actor: 'user', provider: null, session: true, address: from },
      { kind: 'device-refused', actor: 'user', provider: null, session: true, address: from },
      {
        kind: 'logged-in',
        actor: 'user',
        provider: 'device',
        session: true,
        address: device.address,
      },
    ]);
  });
});

it('limits requests like logins, and does not limit the polling of a device', async () => {
  const limited = await startServer({
    env: { ...ENV, AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE: '1' },
  });
  try {
    const calls = new DeviceCalls(limited);
    const device = await calls.newDevice();
    const again = await calls.request({}, device.address);
    expect(refusalOf(again)).toEqual({ status: 429, code: 'rate-limited' });
    expect((await calls.request({}, newAddress())).status).toBe(400);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(refusalOf(await calls.claim(device.id, 'wrong'))).toEqual(INVALID_PROOF);
    }
  } finally {
    await limited.stop();
  }
});
