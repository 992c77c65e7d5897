import { randomInt, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { fromSomewhere } from '../../helpers/device-calls.js';
import { drawInvitationCode } from '../../../src/core/protocol/invitation-code.js';
import {
  call,
  challengedLogin,
  expectErrorShape,
  loginBody,
  makeDeviceKey,
  refusalOf,
  type Answer,
  type DeviceKey,
  type Json,
} from '../../helpers/client.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';

const INVITED = {
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false',
  AUTH_SIGNUP_INVITATIONS_ENABLED: 'true',
  AUTH_FRESH_LOGIN_SECONDS: '0',
  // The test of the limits sends challenges that it generates.
  AUTH_REQUIRE_SERVER_CHALLENGE: 'false',
  SERVICE_TRUSTED_PROXIES: '127.0.0.1',
};
const INVALID = { status: 403, code: 'invitation-invalid' };
const HOUR = 3600;

const unknownCode = (): string => drawInvitationCode((bound) => randomInt(bound));

const [store, tokens] = await Promise.all([createStore(), AdminTokensFile.create()]);
const first = await startServer({ store, env: { ...INVITED, ...tokens.env } });
const replicas = [first, await startServer({ store, env: INVITED })] as const;
const url = await adminUrlOf(first);
const operator = new AdminCalls(url, tokens.operator);
const reader = new AdminCalls(url, tokens.reader);
const sql = new Client({ connectionString: store.databaseUrl ?? '' });
await sql.connect();
afterAll(async () => {
  await sql.end();
  await Promise.all(replicas.map((server) => server.stop()));
  await store.drop();
});

describe('sign-up with an invitation, at two replicas', () => {
  const create = (body: Json, calls = operator): Promise<Answer> =>
    call(calls, 'POST', '/admin/v1/invitations', {
      token: calls === operator ? tokens.operator : tokens.reader,
      body,
    });

  const invite = async (uses: number, note?: string): Promise<{ id: string; code: string }> => {
    const { status, body } = await create({ uses, expiresInSeconds: HOUR, note });
    expect({ status, body }).toMatchObject({ status: 200, body: { areAccepted: true } });
    return body as { id: string; code: string };
  };

  const revoke = (id: string, body: Json = { reason: 'sent to the wrong person' }) =>
    call(operator, 'DELETE', `/admin/v1/invitations/${id}`, { token: tokens.operator, body });

  const signUp = async (
    invitation: unknown,
    { key = makeDeviceKey(), server = replicas[0], headers = fromSomewhere() }: SignUp = {},
  ): Promise<Answer> => {
    const body = { ...(await challengedLogin(server, key)), invitation };
    return call(server, 'POST', '/v1/auth', { headers, body });
  };

  const count = async (text: string, values: readonly unknown[] = []): Promise<number> => {
    const { rows } = await sql.query<{ count: number }>(`SELECT count(*)::int ${text}`, [
      ...values,
    ]);
    return rows[0]?.count ?? NaN;
  };

  const stored = async (): Promise<readonly number[]> => [
    await count('FROM account'),
    await count('FROM session'),
    await count(`FROM audit_event WHERE kind <> 'login-refused'`),
  ];

  const usedOf = async (id: string): Promise<number> => {
    const { rows } = await sql.query<{ used: number }>(
      'SELECT used FROM invitation WHERE id = $1',
      [id],
    );
    return rows[0]?.used ?? NaN;
  };

  const eventsOf = async (query: string): Promise<Json[]> => {
    const { body } = await reader.get(`/audit?${query}`);
    return body['events'] as Json[];
  };

  it('creates an account with a code as people type it, and no second one', async () => {
    const { id, code } = await invite(1, 'for the neighbours');
    expect(code).toMatch(/^([0-9A-Z]{4}-){4}[0-9A-Z]{2}\d\d$/);
    const key = makeDeviceKey();
    const typed = ` ${code.toLowerCase().replaceAll('-', ' ')} `;
    const { status, body } = await signUp(typed, { key });
    expect({ status, body }).toMatchObject({ status: 200, body: { created: true } });
    const second = await signUp(code);
    expect(refusalOf(second)).toEqual(INVALID);
    expectErrorShape(second);
    // The key has an account now, so it needs no invitation, and an old one is harmless.
    for (const invitation of [undefined, code, 'nonsense']) {
      expect((await signUp(invitation, { key, server: replicas[1] })).body).toMatchObject({
        accountId: body['accountId'],
        created: false,
      });
    }
    expect(await usedOf(id)).toBe(1);
  });

  it('stores only the hash of a code, and shows the code once', async () => {
    const { id, code } = await invite(1);
    const { rows } = await sql.query<Json>('SELECT * FROM invitation WHERE id = $1', [id]);
    const listed = (await reader.get('/invitations')).text;
    const logs = replicas.map((server) => server.logs()).join();
    for (const text of [JSON.stringify(rows), listed, logs]) {
      expect(text.toUpperCase().replaceAll('-', '')).not.toContain(code.replaceAll('-', ''));
    }
    expect(rows).toHaveLength(1);
    expect(listed).toContain(id);
  });

  it('creates as many accounts as a code has uses, for 100 simultaneous sign-ups', async () => {
    const { id, code } = await invite(7);
    const before = await count('FROM account');
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => signUp(code, { server: replicas[at % 2] })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(await count('FROM account')).toBe(before + 7);
    expect(await usedOf(id)).toBe(7);
  });

  it('consumes one use for one key, even with 50 simultaneous sign-ups', async () => {
    const { id, code } = await invite(5);
    const key = makeDeviceKey();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => signUp(code, { key, server: replicas[at % 2] })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body['accountId'])).size).toBe(1);
    expect(answers.filter(({ body }) => body['created'] === true)).toHaveLength(1);
    expect(await usedOf(id)).toBe(1);
  });

  it('stores nothing for a code that is unknown, mistyped, expired or revoked', async () => {
    const [expired, revoked, good] = [await invite(1), await invite(1), await invite(1)];
    const expire = `UPDATE invitation SET expires_at = now() - interval '1 second' WHERE id = $1`;
    await sql.query(expire, [expired.id]);
    expect((await revoke(revoked.id)).body).toEqual({ success: true, changed: true });
    const last = good.code.at(-1) === '0' ? '1' : '0';
    const codes = [
      ...[unknownCode(), expired.code, revoked.code, `${good.code.slice(0, -1)}${last}`],
      ...['-', '0000-0000-0000-0000-0000', 'Ω'.repeat(20), '\0', `${good.code}0`],
    ];
    const before = await stored();
    for (const code of codes) {
      for (const server of replicas) {
        expect({ of: code, ...refusalOf(await signUp(code, { server })) }).toEqual({
          of: code,
          ...INVALID,
        });
      }
    }
    expect(await stored()).toEqual(before);
    for (const { id } of [expired, revoked, good]) {
      expect(await usedOf(id)).toBe(0);
    }
    expect((await signUp(good.code)).status).toBe(200);
  });

  it('requires an invitation to create an account, and consumes none otherwise', async () => {
    const { id, code } = await invite(1);
    for (const invitation of [undefined, null, '']) {
      expect(refusalOf(await signUp(invitation))).toEqual({ status: 403, code: 'signup-disabled' });
    }
    for (const invitation of [7, {}, [code], 'x'.repeat(65)]) {
      expect(refusalOf(await signUp(invitation))).toEqual({ status: 400, code: 'invalid-request' });
    }
    const login = { ...(await challengedLogin(replicas[0], makeDeviceKey())), create: false };
    const answer = await call(replicas[0], 'POST', '/v1/auth', {
      body: { ...login, invitation: code },
    });
    expect(refusalOf(answer)).toEqual({ status: 404, code: 'not-found' });
    const forged = { ...loginBody(makeDeviceKey()), publicKey: makeDeviceKey().publicKey };
    const refused = await call(replicas[0], 'POST', '/v1/auth', {
      body: { ...forged, invitation: code },
    });
    expect(refusalOf(refused)).toEqual({ status: 401, code: 'invalid-signature' });
    expect(await usedOf(id)).toBe(0);
  });

  it('does not restore a use when the account is deleted', async () => {
    const { id, code } = await invite(1);
    const { body } = await signUp(code);
    const gone = await call(replicas[0], 'DELETE', '/v1/account', { token: String(body['token']) });
    expect(gone.status).toBe(200);
    expect(refusalOf(await signUp(code))).toEqual(INVALID);
    expect(await usedOf(id)).toBe(1);
  });

  it('records the invitation of each account, also of a deleted one', async () => {
    const { id, code } = await invite(1, 'for Bob');
    const headers = fromSomewhere();
    const { body } = await signUp(code, { headers });
    const { accountId, token } = body as { accountId: string; token: string };
    await revoke(id, { reason: 'no longer needed' });
    await call(replicas[0], 'DELETE', '/v1/account', { token });
    const about = { invitationId: id, actor: 'alice', accountId: null };
    expect(
      (await eventsOf('actor=alice')).filter(({ invitationId }) => invitationId === id),
    ).toMatchObject([
      { ...about, kind: 'invitation-revoked', reason: 'no longer needed' },
      {
        ...{ ...about, accountId, kind: 'invitation-used' },
        ...{ address: headers['x-forwarded-for'], sessionId: expect.any(String) },
      },
      { ...about, kind: 'invitation-created', reason: 'for Bob' },
    ]);
    const kinds = (await eventsOf(`accountId=${accountId}`)).map(({ kind }) => kind);
    expect(kinds.toReversed().slice(0, 3).toSorted()).toEqual([
      'invitation-used',
      'logged-in',
      'signed-up',
    ]);
    await replicas[0].logged(new RegExp(`invitation-used.*${accountId}|${accountId}.*invitation`));
  });

  it('is advertised in fields that older clients ignore', async () => {
    const { body } = await call(replicas[0], 'GET', '/v1/features');
    expect(body).toMatchObject({
      capabilities: {
        auth: {
          methods: [{ method: 'key_challenge', action: 'login', mode: 'keyed' }],
          signup: {
            methods: [
              { id: 'anonymous', enabled: false },
              { id: 'invitation', enabled: true },
            ],
          },
        },
      },
    });
  });

  it('permits operators to create and revoke, and readers to list page by page', async () => {
    expect(refusalOf(await create({ uses: 1, expiresInSeconds: HOUR }, reader))).toEqual({
      status: 403,
      code: 'admin-role-required',
    });
    const made = [await invite(2, 'a'), await invite(3, 'b'), await invite(4, 'c')];
    expect((await reader.get('/invitations')).body).toMatchObject({ areAccepted: true });
    const pages: Json[] = [];
    let cursor: unknown = '';
    do {
      const { status, body } = await reader.get(`/invitations?limit=2${String(cursor)}`);
      expect(status).toBe(200);
      pages.push(...(body['invitations'] as Json[]));
      cursor = body['cursor'] === null ? null : `&cursor=${String(body['cursor'])}`;
    } while (cursor !== null);
    expect(pages.slice(0, 3)).toMatchObject(
      made.map(({ id }, at) => ({ id, uses: at + 2, used: 0, revokedAt: null })).toReversed(),
    );
    expect(pages[0]).toEqual({
      ...{ id: made[2]?.id, note: 'c', uses: 4, used: 0, createdBy: 'alice', revokedAt: null },
      ...{
        createdAt: expect.any(Number),
        expiresAt: Number(pages[0]?.['createdAt']) + HOUR * 1000,
      },
    });
    expect(new Set(pages.map(({ id }) => id)).size).toBe(await count('FROM invitation'));
  });

  it('refuses bad input of administrators', async () => {
    const wrong = [
      ...[{}, { uses: 1 }, { expiresInSeconds: HOUR }],
      ...[0, -1, 1001, 1.5, '1', null].map((uses) => ({ uses, expiresInSeconds: HOUR })),
      ...[59, 31_536_001, 'x', null].map((expiresInSeconds) => ({ uses: 1, expiresInSeconds })),
      ...['', 'x'.repeat(201), 'a\0b', 7].map((note) => ({
        uses: 1,
        expiresInSeconds: HOUR,
        note,
      })),
    ];
    for (const body of wrong) {
      const answer = await create(body);
      expect({ body, ...refusalOf(answer) }).toEqual({
        ...{ body, status: 400, code: 'invalid-request' },
      });
      expectErrorShape(answer);
    }
    const { id } = await invite(1);
    expect((await revoke(id, {})).status).toBe(400);
    expect((await revoke(id)).body).toEqual({ success: true, changed: true });
    expect((await revoke(id)).body).toEqual({ success: true, changed: false });
    for (const unknown of [randomUUID(), 'x', '%00']) {
      expect((await revoke(unknown)).status).toBe(404);
    }
    expect((await reader.get('/invitations?cursor=e30')).status).toBe(400);
  });

  it('lets an office behind one address sign up with one code, whatever was mistyped there', async () => {
    const { id, code } = await invite(50);
    const headers = fromSomewhere();
    const wrong = await Promise.all(
      Array.from({ length: 30 }, () => signUp(unknownCode(), { headers })),
    );
    expect(wrong.map(refusalOf)).toEqual(Array(30).fill(INVALID));
    const people = await Promise.all(
      Array.from({ length: 50 }, (_, at) => signUp(code, { headers, server: replicas[at % 2] })),
    );
    expect(people.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(await usedOf(id)).toBe(50);
  });

  it('counts tries as logins of their address', async () => {
    const server = await startServer({
      store,
      env: { ...INVITED, AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE: '20' },
    });
    const { code } = await invite(1);
    const one = fromSomewhere();
    const guess = (invitation: string, headers = one): Promise<Answer> => {
      const body = { ...loginBody(makeDeviceKey()), invitation };
      return call(server, 'POST', '/v1/auth', { headers, body });
    };
    const tries = await Promise.all(Array.from({ length: 20 }, () => guess(unknownCode())));
    expect(tries.map(refusalOf)).toEqual(Array(20).fill(INVALID));
    const limited = await guess(code);
    expect(refusalOf(limited)).toEqual({ status: 429, code: 'rate-limited' });
    expectErrorShape(limited);
    expect((await guess(code, fromSomewhere())).status).toBe(200);
    await server.stop();
  });
});

interface SignUp {
  readonly key?: DeviceKey;
  readonly server?: Server | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}
