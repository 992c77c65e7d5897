import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { connect } from '../helpers/client-live.js';
import { call, logIn, makeDeviceKey, refusalOf, type Login } from '../helpers/client.js';
import { IS_POSTGRES, type Server } from '../helpers/server.js';
import {
  begin,
  beginConnect,
  comeBack,
  connectFinalize,
  connectThrough,
  finalize,
  loginThrough,
  profile,
  startWorld,
  unlink,
  type World,
} from './external-world.js';

let world: World;
let server: Server;

beforeAll(async () => {
  world = await startWorld({ env: { AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta' } });
  server = world.server;
});
afterAll(() => world.stop());

const pushTokens = (token: string) => call(server, 'GET', '/v1/push-tokens', { token });
const REQUIRED = { statusCode: 403, code: 'provider-required', provider: 'okta' };

async function linkedAccount(user: string): Promise<Login> {
  const login = await logIn(server);
  expect((await connectThrough(server, user, login.token)).body).toEqual({ success: true });
  return login;
}

describe('a required provider', () => {
  it('keeps out until it is connected, and again at once when it is unlinked', async () => {
    const { token } = await logIn(server);
    expect((await pushTokens(token)).body).toMatchObject(REQUIRED);
    const connected = await connectThrough(server, 'anna', token);
    expect({ status: connected.status, body: connected.body }).toEqual({
      status: 200,
      body: { success: true },
    });
    expect((await pushTokens(token)).status).toBe(200);

    const live = await connect(server, { token });
    await live.next('hello');
    expect((await unlink(server, token)).body).toEqual({ success: true });
    expect(await live.next('update')).toMatchObject({ body: { t: 'identities-changed' } });
    expect(await live.next('closing')).toMatchObject(REQUIRED);
    await live.disconnected;
    expect((await pushTokens(token)).body).toMatchObject(REQUIRED);

    await connectThrough(server, 'anna', token);
    expect((await pushTokens(token)).status).toBe(200);
  });

  it('admits a person who signs up through it', async () => {
    const { body } = await loginThrough(server, 'berta', makeDeviceKey());
    expect((await pushTokens(body.token)).status).toBe(200);
  });

  it('ends access, everywhere, when a link returns as not eligible any more', async () => {
    const { token } = await linkedAccount('clara');
    const live = await connect(server, { token });
    await live.next('hello');
    await world.oidc.setGroups('clara', []);
    const { url } = await begin(server);
    expect(await comeBack(url, 'clara')).toEqual({ flow: 'auth', error: 'not_eligible' });
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'okta' });
    expect((await pushTokens(token)).body).toMatchObject({ code: 'not-eligible' });
    const { body } = await profile(server, token);
    expect(body['identities']).toMatchObject([
      { eligibility: { status: 'ineligible', reason: 'group_missing' } },
    ]);

    await world.oidc.setGroups('clara', ['engineering']);
    expect((await connectThrough(server, 'clara', token)).status).toBe(200);
    expect((await pushTokens(token)).status).toBe(200);
  });
});

describe('connecting', () => {
  it('notifies the account’s clients, once', async () => {
    const { token } = await linkedAccount('dora');
    const live = await connect(server, { token });
    const { seq } = await live.next('hello');
    await connectThrough(server, 'dora-at-acme', token, 'acme');
    expect(await live.next('update')).toMatchObject({
      seq: Number(seq) + 1,
      body: { t: 'identities-changed' },
    });
    await connectThrough(server, 'dora-at-acme', token, 'acme');
    await sleep(50);
    expect(live.waiting('update')).toBe(0);
    live.close();
    const { body } = await profile(server, token);
    expect(body['identities']).toMatchObject([{ provider: 'okta' }, { provider: 'acme' }]);
  });

  it('is finished only by the account that started it', async () => {
    const [mine, other] = [await logIn(server), await logIn(server)];
    const { pending } = await comeBack(await beginConnect(server, mine.token), 'emma');
    const stolen = await connectFinalize(server, pending, other.token);
    expect(refusalOf(stolen)).toEqual({ status: 400, code: 'invalid-pending' });
    const asLogin = await finalize(server, pending, makeDeviceKey(), { proof: 'p' });
    expect(refusalOf(asLogin)).toEqual({ status: 400, code: 'invalid-pending' });
    const wrong = await connectFinalize(server, pending, mine.token, 'acme');
    expect(refusalOf(wrong)).toEqual({ status: 400, code: 'invalid-pending' });
    expect((await connectFinalize(server, pending, mine.token)).status).toBe(200);
    const replay = await connectFinalize(server, pending, mine.token);
    expect(refusalOf(replay)).toEqual({ status: 400, code: 'invalid-pending' });
  });

  it('refuses an identity of another account, and a second one of the same provider', async () => {
    const { token } = await linkedAccount('frida');
    const other = await logIn(server);
    for (const [user, account] of [
      ['frida', other.token],
      ['gerda', token],
    ] as const) {
      const answer = await connectThrough(server, user, account);
      expect(answer.body).toMatchObject({
        statusCode: 409,
        code: 'provider-already-linked',
        provider: 'okta',
      });
    }
  });

  it('leaves the identity free for another account after it is unlinked', async () => {
    const { token } = await linkedAccount('hanna');
    await unlink(server, token);
    const other = await logIn(server);
    expect((await connectThrough(server, 'hanna', other.token)).status).toBe(200);
  });

  it('needs a token', async () => {
    for (const [method, path] of [
      ['GET', '/params'],
      ['POST', '/finalize'],
      ['DELETE', ''],
    ] as const) {
      const answer = await call(server, method, `/v1/connect/external/okta${path}`);
      expect(refusalOf(answer)).toEqual({ status: 401, code: 'missing-token' });
    }
  });
});

describe('unlinking', () => {
  it('succeeds again, and knows its providers', async () => {
    const { token } = await logIn(server);
    expect((await unlink(server, token)).status).toBe(200);
    const unknown = await unlink(server, token, 'unknown');
    expect(refusalOf(unknown)).toEqual({ status: 404, code: 'unsupported-provider' });
  });

  it('of a provider that is not required leaves connections open', async () => {
    const { token } = await linkedAccount('ida');
    await connectThrough(server, 'ida-at-acme', token, 'acme');
    const live = await connect(server, { token });
    await live.next('hello');
    await unlink(server, token, 'acme');
    expect(await live.next('update')).toMatchObject({ body: { t: 'identities-changed' } });
    await sleep(50);
    expect(live.socket.connected).toBe(true);
    live.close();
  });
});

const withSql = IS_POSTGRES ? describe : describe.skip;
withSql('what is stored of a link (needs SQL: PostgreSQL only)', () => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({ connectionString: server.databaseUrl ?? '' });
    await client.connect();
  });
  afterAll(() => client.end());

  it('is a sealed credential, and a trace of each change', async () => {
    const { token, accountId } = await linkedAccount('jana');
    const { rows } = await client.query<{ credentials: Buffer; facts: object }>(
      'SELECT credentials, facts FROM identity WHERE account_id = $1',
      [accountId],
    );
    expect(rows[0]?.credentials?.[0]).toBe(1);
    expect(rows[0]?.facts).toMatchObject({ login: 'jana', groups: ['engineering'] });
    await unlink(server, token);
    const { rows: trace } = await client.query<{ kind: string; provider: string }>(
      'SELECT kind, provider FROM audit_event WHERE account_id = $1 ORDER BY id',
      [accountId],
    );
    expect(trace.slice(-2)).toEqual([
      { kind: 'identity-linked', provider: 'okta' },
      { kind: 'identity-unlinked', provider: 'okta' },
    ]);
  });

  it('does not overrule a no that came after the proof', async () => {
    const { token, accountId } = await linkedAccount('karla');
    const { pending } = await comeBack(await beginConnect(server, token), 'karla');
    await client.query(
      `UPDATE identity SET eligibility_status = 'ineligible', eligibility_checked_at = now()
       WHERE account_id = $1`,
      [accountId],
    );
    const answer = await connectFinalize(server, pending, token);
    expect(answer.body).toMatchObject({ code: 'not-eligible', provider: 'okta' });
  });
});
