import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../helpers/client-live.js';
import { call, logIn, makeDeviceKey, refusalOf, type Login } from '../../../helpers/client.js';
import { runSql } from '../../../fixtures/programs/services-fixture.js';
import {
  begin,
  beginConnect,
  logInAtProvider,
  connectFinalize,
  connectThrough,
  finalize,
  loginThrough,
  profile,
  startLoginFixture,
  unlink,
} from '../../../fixtures/provider-login-fixture.js';

const fixture = await startLoginFixture({ env: { AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta' } });
const server = fixture.server;
afterAll(() => fixture.stop());

const pushTokens = (token: string) => call(server, 'GET', '/v1/push-tokens', { token });
const REQUIRED = { statusCode: 403, code: 'provider-required', provider: 'okta' };

async function linkedAccount(user: string): Promise<Login> {
  const login = await logIn(server);
  expect((await connectThrough(server, user, login.token)).body).toEqual({ success: true });
  return login;
}

describe('a required provider', () => {
  it('refuses access until it is connected, and again once it is unlinked', async () => {
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

  it('ends access everywhere when a link returns that the person is no longer eligible', async () => {
    const { token } = await linkedAccount('clara');
    const live = await connect(server, { token });
    await live.next('hello');
    await fixture.oidc.setGroups('clara', []);
    const { url } = await begin(server);
    expect(await logInAtProvider(url, 'clara')).toEqual({
      flow: 'auth',
      error: 'not_eligible',
      // Their owner learns both: the provider has just confirmed who it is.
      account: expect.any(String),
      reason: 'group_missing',
    });
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'okta' });
    expect((await pushTokens(token)).body).toMatchObject({ code: 'not-eligible' });
    const { body } = await profile(server, token);
    expect(body['identities']).toMatchObject([
      { eligibility: { status: 'ineligible', reason: 'group_missing' } },
    ]);

    await fixture.oidc.setGroups('clara', ['engineering']);
    expect((await connectThrough(server, 'clara', token)).status).toBe(200);
    expect((await pushTokens(token)).status).toBe(200);
  });
});

describe('connecting a provider', () => {
  it('notifies the clients of the account, once', async () => {
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

  it('permits only the account that began to finish', async () => {
    const [mine, other] = [await logIn(server), await logIn(server)];
    const { pending } = await logInAtProvider(await beginConnect(server, mine.token), 'emma');
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

  it('releases an identity for another account when it is unlinked', async () => {
    const { token } = await linkedAccount('hanna');
    await unlink(server, token);
    const other = await logIn(server);
    expect((await connectThrough(server, 'hanna', other.token)).status).toBe(200);
  });

  it('refuses to connect or unlink without a token', async () => {
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

describe('unlinking a provider', () => {
  it('succeeds when it is repeated, and refuses an unknown provider', async () => {
    const { token } = await logIn(server);
    expect((await unlink(server, token)).status).toBe(200);
    const unknown = await unlink(server, token, 'unknown');
    expect(refusalOf(unknown)).toEqual({ status: 404, code: 'unsupported-provider' });
  });

  it('keeps connections open when the provider is not required', async () => {
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

describe('the rows of a link', () => {
  it('stores a sealed credential, and one audit event for each change', async () => {
    const { token, accountId } = await linkedAccount('jana');
    const rows = await runSql<{ credentials: Buffer; facts: object }>(
      server.databaseUrl,
      'SELECT credentials, facts FROM identity WHERE account_id = $1',
      [accountId],
    );
    expect(rows[0]?.credentials?.[0]).toBe(1);
    expect(rows[0]?.facts).toMatchObject({ login: 'jana', groups: ['engineering'] });
    await unlink(server, token);
    const trace = await runSql<{ kind: string; provider: string }>(
      server.databaseUrl,
      'SELECT kind, provider FROM audit_event WHERE account_id = $1 ORDER BY id',
      [accountId],
    );
    expect(trace.slice(-2)).toEqual([
      { kind: 'identity-linked', provider: 'okta' },
      { kind: 'identity-unlinked', provider: 'okta' },
    ]);
  });

  it('keeps a refusal that came after the proof, also if the identity is unlinked', async () => {
    const { token, accountId } = await linkedAccount('karla');
    const { pending } = await logInAtProvider(await beginConnect(server, token), 'karla');
    await runSql(
      server.databaseUrl,
      `UPDATE identity SET eligibility_status = 'ineligible', eligibility_checked_at = now()
       WHERE account_id = $1`,
      [accountId],
    );
    const answer = await connectFinalize(server, pending, token);
    expect(answer.body).toMatchObject({ code: 'not-eligible', provider: 'okta' });
    expect((await unlink(server, token)).status).toBe(200);
    const late = await connectFinalize(server, pending, token);
    expect(late.body).toMatchObject({ code: 'provider-required', provider: 'okta' });
    expect((await connectThrough(server, 'karla', token)).status).toBe(200);
  });
});
