import { Client } from 'pg';
import { makeDeviceKey, refusalOf } from '../../../helpers/client.js';
import { type Server } from '../../../fixtures/programs/server-fixture.js';
import {
  begin,
  logInAtProvider,
  finalize,
  hashOf,
  loginThrough,
  startLoginFixture,
  type LoginFixture,
} from '../../../fixtures/provider-login-fixture.js';

const TEN_MINUTES_MS = 600_000;

let fixture: LoginFixture;
let server: Server;

describe('the rows of a pending login', () => {
  let client: Client;
  beforeAll(async () => {
    fixture = await startLoginFixture();
    server = fixture.server;
    client = new Client({ connectionString: server.databaseUrl ?? '' });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await fixture.stop();
  });

  it('reveals no secret to a reader of the database', async () => {
    const { url, proof } = await begin(server);
    const state = new URL(url).searchParams.get('state') ?? '';
    const { rows: flows } = await client.query<object>('SELECT * FROM external_flow');
    const { pending = '' } = await logInAtProvider(url, 'karla');
    const { rows: pendings } = await client.query<object>('SELECT * FROM external_pending');
    expect(flows.length * pendings.length).toBeGreaterThan(0);
    const text = [...flows, ...pendings].map((row) => Object.values(row).map(String).join());
    for (const secret of [state, pending, proof, hashOf(proof), 'karla', 'okta']) {
      expect(text.join()).not.toContain(secret);
    }
  });

  it('expires after 10 minutes', async () => {
    const { url, proof } = await begin(server);
    await client.query(`UPDATE external_flow SET expires_at = now() - interval '1 ms'`);
    expect(await logInAtProvider(url, 'lena')).toEqual({ flow: 'auth', error: 'invalid_state' });
    const second = await begin(server);
    const before = Date.now();
    const { pending } = await logInAtProvider(second.url, 'lena');
    const { rows } = await client.query<{ end: Date }>(
      `SELECT max(expires_at) AS "end" FROM external_pending`,
    );
    const end = rows[0]?.end.getTime();
    expect(end).toBeGreaterThanOrEqual(before + TEN_MINUTES_MS);
    expect(end).toBeLessThanOrEqual(Date.now() + TEN_MINUTES_MS);
    await client.query(`UPDATE external_pending SET expires_at = now() - interval '1 ms'`);
    const late = await finalize(server, pending, makeDeviceKey(), { proof });
    expect(refusalOf(late)).toEqual({ status: 400, code: 'invalid-pending' });
  });

  it('is useless in another row', async () => {
    const mine = await begin(server);
    const { pending } = await logInAtProvider(mine.url, 'mona');
    const other = await begin(server);
    const { pending: bought } = await logInAtProvider(other.url, 'nora');
    const hash = (secret = '') => Buffer.from(hashOf(secret), 'hex');
    await client.query(
      `UPDATE external_pending SET contents =
         (SELECT contents FROM external_pending WHERE pending_hash = $1) WHERE pending_hash = $2`,
      [hash(bought), hash(pending)],
    );
    const answer = await finalize(server, pending, makeDeviceKey(), mine);
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-pending' });
  });

  it('creates no account where the identity belongs to another one', async () => {
    await loginThrough(server, 'olga', makeDeviceKey());
    const key = makeDeviceKey();
    expect((await loginThrough(server, 'olga', key)).status).toBe(409);
    const { rows } = await client.query('SELECT 1 FROM account WHERE public_key = $1', [key.raw]);
    expect(rows).toEqual([]);
  });
});
