import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManualClock } from '../../fixtures/manual-clock.js';
import { call, expectErrorShape, logIn, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { AccessTokenService } from '../../../src/server/auth/sessions/access-token.service.js';
import { MasterKeys } from '../../../src/server/storage/sealing/master-keys.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';

const SECRET = 'the-master-secret-of-the-token-spec-0123456789';
const OLDER_SECRET = 'an-older-master-secret-of-the-spec-0123456789';

const server = await startServer({
  env: { SERVICE_MASTER_SECRET: SECRET, SERVICE_MASTER_SECRET_PREVIOUS: OLDER_SECRET },
});
const login = await logIn(server);

afterAll(() => server.stop());

const profile = (token: string, headers?: Record<string, string>) =>
  call(server, 'GET', '/v1/account/profile', { token, headers });

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (segment: string | undefined): Record<string, unknown> =>
  JSON.parse(Buffer.from(segment ?? '', 'base64url').toString()) as Record<string, unknown>;

async function refuses(token: string, code = 'invalid-token'): Promise<void> {
  const answer = await profile(token);
  expect(refusalOf(answer)).toEqual({ status: 401, code });
  expect(answer.headers['www-authenticate']).toBe('Bearer');
  expectErrorShape(answer);
}

describe('the bearer token', () => {
  it('authenticates its account', async () => {
    const { status, body } = await profile(login.token);
    expect({ status, id: body['id'] }).toEqual({ status: 200, id: login.accountId });
  });

  it('contains only the required claims', () => {
    const [header, payload] = login.token.split('.').slice(0, 2).map(decode);
    expect(header).toEqual({ alg: 'HS256', typ: 'at+jwt', kid: expect.any(String) });
    expect(Object.keys(payload ?? {}).sort()).toEqual(['exp', 'iat', 'iss', 'jti', 'sub']);
    expect(Number(payload?.['exp']) - Number(payload?.['iat'])).toBe(30 * 86_400);
  });

  it('is refused with any one of its characters changed', async () => {
    const mutants = [...login.token].flatMap((character, index) => {
      const code = character.charCodeAt(0);
      return [code ^ 1, code ^ 2, code ^ 32]
        .filter((changed) => changed > 32 && changed < 127)
        .map(
          (c) =>
            login.token.slice(0, index) + String.fromCharCode(c) + login.token.slice(index + 1),
        );
    });
    const answers: { status: number; code: unknown }[] = [];
    for (let from = 0; from < mutants.length; from += 50) {
      const batch = mutants.slice(from, from + 50).map((token) => profile(token));
      answers.push(...(await Promise.all(batch)).map(refusalOf));
    }
    expect(answers.length).toBeGreaterThan(login.token.length);
    expect(
      answers.filter(({ status, code }) => status !== 401 || code !== 'invalid-token'),
    ).toEqual([]);
  });

  it('is refused truncated, extended, and in another encoding', async () => {
    const [header = '', payload = '', signature = ''] = login.token.split('.');
    const hostile = [
      login.token.slice(0, -1),
      `${login.token}A`,
      `${login.token}=`,
      `${login.token}.`,
      `${login.token}.AAAA`,
      `.${login.token}`,
      `${header}.${payload}`,
      `${header}.${payload}.`,
      `${header}..${signature}`,
      `..${signature}`,
      '..',
      'null',
      `${header}.${payload}.${signature}.${signature}.${signature}`,
      'A'.repeat(5000),
    ];
    for (const token of hostile) {
      await refuses(token);
    }
  });

  it('is refused with another algorithm, type, key or with none', async () => {
    const [header, payload = ''] = login.token.split('.');
    const { kid } = decode(header);
    const headers: Record<string, unknown>[] = [
      { alg: 'none', typ: 'at+jwt', kid },
      { alg: 'None', typ: 'at+jwt', kid },
      { alg: 'HS512', typ: 'at+jwt', kid },
      { alg: 'RS256', typ: 'at+jwt', kid },
      { alg: 'EdDSA', typ: 'at+jwt', kid },
      { alg: 'HS256', typ: 'at+jwt', kid: 'another' },
      { alg: 'HS256', typ: 'at+jwt', kid: '__proto__' },
      { alg: 'HS256', typ: 'at+jwt', kid: 7 },
      { alg: 'HS256', typ: 'at+jwt' },
      { alg: 'HS256', typ: 'JWT', kid },
      { alg: 'HS256', typ: 'at+jwt', kid, crit: ['b64'], b64: false },
      { alg: 'HS256', typ: 'at+jwt', kid, jwk: { kty: 'oct', k: 'AAAA' } },
    ];
    for (const forged of headers) {
      const signed = `${encode(forged)}.${payload}`;
      // Incorrect verifiers accept these keys: an empty one, and the key id itself.
      for (const secret of ['', String(kid)]) {
        const mac = createHmac('sha256', secret).update(signed).digest('base64url');
        await refuses(`${signed}.${mac}`);
      }
      await refuses(`${signed}.`);
    }
  });

  it('is refused where the claims were changed', async () => {
    const other = await logIn(server);
    const [header = '', , signature = ''] = login.token.split('.');
    const [, otherPayload = ''] = other.token.split('.');
    await refuses(`${header}.${otherPayload}.${signature}`);
  });

  it.each(['', 'Basic abc', 'Bearer', 'Bearer ', 'bearer: x', 'Token x', 'Bearer a b'])(
    'is not found in the header %j',
    async (authorization) => {
      const answer = await call(server, 'GET', '/v1/account/profile', {
        headers: { authorization },
      });
      expect(refusalOf(answer)).toEqual({ status: 401, code: 'missing-token' });
      expectErrorShape(answer);
    },
  );

  it('is read from the header only', async () => {
    const query = await call(server, 'GET', `/v1/account/profile?token=${login.token}`);
    const cookie = await call(server, 'GET', '/v1/account/profile', {
      headers: { cookie: `token=${login.token}` },
    });
    expect([query, cookie].map(refusalOf)).toEqual(
      Array(2).fill({ status: 401, code: 'missing-token' }),
    );
  });

  it('is accepted in any case of the scheme', async () => {
    const answer = await call(server, 'GET', '/v1/account/profile', {
      headers: { authorization: `bEARER  ${login.token}` },
    });
    expect(answer.status).toBe(200);
  });
});

describe('logging out', () => {
  const logout = (token: string, where = 'logout') =>
    call(server, 'POST', `/v1/auth/${where}`, { token });

  it('revokes that token at once, and no other', async () => {
    const key = makeDeviceKey();
    const [one, two] = [await logIn(server, key), await logIn(server, key)];
    expect((await profile(one.token)).status).toBe(200);
    const { status, body } = await logout(one.token);
    expect({ status, body }).toEqual({ status: 200, body: { success: true } });
    await refuses(one.token, 'token-revoked');
    expect((await profile(two.token)).status).toBe(200);
    expect(refusalOf(await logout(one.token))).toEqual({ status: 401, code: 'token-revoked' });
  });

  it('revokes a token that was never used', async () => {
    const { token } = await logIn(server);
    await logout(token);
    await refuses(token, 'token-revoked');
  });

  it('applies to calls in progress', async () => {
    const { token } = await logIn(server);
    const racing = Array.from({ length: 30 }, () => profile(token));
    const done = await logout(token);
    await Promise.all(racing);
    expect(done.status).toBe(200);
    for (let turn = 0; turn < 10; turn += 1) {
      await refuses(token, 'token-revoked');
    }
  });

  it('revokes every token of the account with logout-everywhere, and no other', async () => {
    const key = makeDeviceKey();
    const tokens = [];
    for (let count = 0; count < 3; count += 1) {
      tokens.push((await logIn(server, key)).token);
    }
    await Promise.all(tokens.map((token) => profile(token)));
    expect((await logout(tokens[0] ?? '', 'logout-everywhere')).body).toEqual({ success: true });
    for (const token of tokens) {
      await refuses(token, 'token-revoked');
    }
    expect((await profile(login.token)).status).toBe(200);
    const { token } = await logIn(server, key);
    expect((await profile(token)).status).toBe(200);
  });

  it.each(['logout', 'logout-everywhere'])(
    'refuses to log out without a token: %s',
    async (where) => {
      const answer = await call(server, 'POST', `/v1/auth/${where}`);
      expect(refusalOf(answer)).toEqual({ status: 401, code: 'missing-token' });
    },
  );
});

describe('an account that changed in the database', () => {
  it('refuses a disabled account, at login too', async () => {
    const key = makeDeviceKey();
    const { token, accountId } = await logIn(server, key);
    await runSql(server.databaseUrl, 'UPDATE account SET disabled_at = now() WHERE id = $1', [
      accountId,
    ]);
    const answer = await profile(token);
    expect(refusalOf(answer)).toEqual({ status: 403, code: 'account-disabled' });
    expectErrorShape(answer);
    await expect(logIn(server, key)).rejects.toThrow('account-disabled');
  });

  it('refuses the tokens of a deleted account', async () => {
    const { token, accountId } = await logIn(server);
    await runSql(server.databaseUrl, 'DELETE FROM account WHERE id = $1', [accountId]);
    await refuses(token, 'token-revoked');
  });
});

describe('a token that was signed with a master secret', () => {
  /** Issues a token for the session of `login`, which continues after the token expires. */
  const issue = (secret: string, now: number, tokenTtlSeconds = 3600): string => {
    const tokens = new AccessTokenService(new MasterKeys(secret, []), new ManualClock(now));
    return tokens.issue(login.accountId, {
      id: String(decode(login.token.split('.')[1])['jti']),
      createdAt: new Date(now),
      expiresAt: new Date(now + tokenTtlSeconds * SECOND),
    });
  };
  const SECOND = 1000;

  it('is accepted with the current master secret and an older one, while it lives', async () => {
    for (const secret of [SECRET, OLDER_SECRET]) {
      expect((await profile(issue(secret, Date.now()))).status).toBe(200);
      await refuses(issue(secret, Date.now() - 3601 * SECOND), 'token-expired');
    }
  });

  it('is accepted until its last second, also when it is cached', async () => {
    // The token is accepted in its last 2 seconds. A slower machine gets 4 seconds, and so on.
    for (let left = 2; ; left *= 2) {
      const token = issue(SECRET, Date.now() - (60 - left) * SECOND, 60);
      if ((await profile(token)).status === 200) {
        await sleep(left * SECOND + 100);
        return refuses(token, 'token-expired');
      }
      expect(left).toBeLessThan(60);
    }
  });

  it('is refused with any other master secret', async () => {
    await refuses(issue(`${SECRET}!`, Date.now()));
  });
});
