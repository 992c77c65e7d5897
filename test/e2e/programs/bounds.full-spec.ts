import { decodeJwt } from 'jose';
import { MAX_GRANTS, PROGRAM_APPROVALS } from '../../../src/core/policy/programs/programs.js';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { EventStreamFixture } from '../../fixtures/event-stream-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import {
  approve,
  beginRequest,
  fillGrants,
  INSPECTOR,
  newVerifier,
  PROGRAM_ENV,
  PROGRAMS,
  programsOf,
  programTokens,
  refresh,
} from '../../fixtures/programs-fixture.js';
import { backends, basic, postForm } from '../../fixtures/resource-server-fixture.js';
import { sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';
import {
  files,
  issuing,
  publish,
  revocationLists,
  startDirect,
} from '../../fixtures/tls-listener-fixture.js';
import { call, makeDeviceKey, refusalOf } from '../../helpers/client.js';

const setup = backends([{ id: 'notes', programs: PROGRAMS }]);
const tokens = await AdminTokensFile.create();
const env = { ...setup.env, ...PROGRAM_ENV, ...tokens.env, AUTH_ACCESS_CACHE_SECONDS: '0' };
const server = await startServer({ env });
const admin = new AdminCalls(await adminUrlOf(server), tokens.operator);
const stream = await EventStreamFixture.open(server, setup, 'notes');
afterAll(() => server.stop());

const person = () => tokenOf(server, makeDeviceKey());
const sql = (text: string) => runSql(server.databaseUrl ?? '', text);
const sidOf = (access: string): string => String(decodeJwt(access)['sid']);
const accountOf = (token: string): string => String(decodeJwt(token).sub);

const endsOf = (token: string) =>
  sql(`SELECT actor, reason, detail FROM audit_event
       WHERE account_id = '${accountOf(token)}' AND kind = 'program-ended' ORDER BY id`);

describe('an approval (needs PostgreSQL)', () => {
  it('needs a login of the last 900 s, also where the server needs none', async () => {
    const token = await person();
    const id = await beginRequest(server, newVerifier());
    await sql(`UPDATE session SET created_at = created_at - interval '901 seconds'
               WHERE id = '${sessionIdOf(token)}'`);
    expect(refusalOf(await approve(server, token, id))).toEqual({
      status: 403,
      code: 'fresh-login-required',
    });
    expect((await call(server, 'GET', `/v1/oauth/requests/${id}`, { token })).status).toBe(200);
    expect((await approve(server, await person(), id)).status).toBe(200);
  });

  it('is refused beyond 20 in an hour, for that account alone', async () => {
    const token = await person();
    for (let count = 0; count < PROGRAM_APPROVALS.max; count += 1) {
      const id = await beginRequest(server, newVerifier());
      expect((await approve(server, token, id)).status).toBe(200);
    }
    const id = await beginRequest(server, newVerifier());
    expect(refusalOf(await approve(server, token, id))).toEqual({
      status: 429,
      code: 'rate-limited',
    });
    expect((await approve(server, await person(), id)).status).toBe(200);
  });

  it('ends the grant that was unused longest where the account has 100', async () => {
    const token = await person();
    const oldest = await programTokens(server, token);
    await sql(fillGrants(accountOf(token), MAX_GRANTS));
    expect(await programsOf(server, token)).toHaveLength(MAX_GRANTS);
    await programTokens(server, token);
    expect(await programsOf(server, token)).toHaveLength(MAX_GRANTS);
    await stream.until(sidOf(oldest.access));
    expect((await refresh(server, oldest.refresh)).body['error']).toBe('invalid_grant');
    expect(await endsOf(token)).toEqual([
      { actor: 'system', reason: 'limit', detail: 'inspector at notes' },
    ]);
  });
});

describe('a grant whose key no master secret opens (needs PostgreSQL)', () => {
  it('is neither refreshed nor revoked until one does', async () => {
    const program = await programTokens(server, await person());
    const form = { token: program.refresh, client_id: INSPECTOR.id };
    const revoke = () => postForm(server, '/v1/oauth/revoke', form);
    /** Changes the id of the key, or restores it. */
    const swapKey = () =>
      sql(`UPDATE program_grant SET refresh_key = set_byte(refresh_key, 1, get_byte(refresh_key, 1) # 1)
           WHERE sid = '${sidOf(program.access)}'`);
    await swapKey();
    for (const answer of [await refresh(server, program.refresh), await revoke()]) {
      expect([answer.status, answer.body['error']]).toEqual([503, 'temporarily_unavailable']);
    }
    await swapKey();
    expect((await refresh(server, program.refresh)).status).toBe(200);
    expect((await revoke()).status).toBe(200);
    expect((await refresh(server, program.refresh)).body['error']).toBe('invalid_grant');
  });
});

describe('the grant of a session that a certificate opened (needs PostgreSQL)', () => {
  const OF_CERTIFICATES = {
    env: { ...setup.env, ...PROGRAM_ENV, AUTH_OFFBOARDING_INTERVAL_SECONDS: '86400' },
  };
  const start = async () => {
    const direct = await startDirect({}, OF_CERTIFICATES);
    const change = (text: string) => runSql(direct.server.databaseUrl ?? '', text);
    return { direct, change };
  };

  it('is reported as ended with an older certificate that is revoked', async () => {
    const { direct, change } = await start();
    const names = ['email:renewed@corp.example'];
    const older = issuing.issue({ names });
    const token = String((await direct.logIn(older)).body['token']);
    const program = await programTokens(direct.server, token);
    expect((await direct.logIn(issuing.issue({ names }))).status).toBe(200);
    issuing.revoke(older);
    publish({ ...files, 'crl.pem': revocationLists() }, 'renewed');
    const answers = await EventStreamFixture.open(direct.server, setup, 'notes');
    await answers.until(sidOf(program.access));
    const [, line = ''] = await direct.server.logged(/({[^\n]*"kind":"program-ended"[^\n]*})/);
    const accountId = accountOf(token);
    const detail = 'inspector at notes';
    expect(JSON.parse(line)).toMatchObject({ accountId, reason: 'revoked', detail });
    const stored = await change(`SELECT kind, actor, provider, session_id IS NULL AS "isOfProgram"
      FROM audit_event WHERE account_id = '${accountId}' AND reason = 'revoked' ORDER BY id`);
    const by = { actor: 'provider', provider: 'mtls' };
    expect(stored).toEqual([
      { kind: 'token-revoked', ...by, isOfProgram: false },
      { kind: 'program-ended', ...by, isOfProgram: true },
    ]);
    expect(direct.server.logs().match(/"kind":"token-revoked"/g)).toHaveLength(1);
    await direct.server.stop();
  });

  it('is reported as ended with a certificate that expired', async () => {
    const { direct, change } = await start();
    const own = issuing.issue({ names: ['email:late@corp.example'] });
    const token = String((await direct.logIn(own)).body['token']);
    await programTokens(direct.server, token);
    const past = Date.now() - 1000;
    await change(`UPDATE program_grant SET expires_at = to_timestamp(${past / 1000}::float8),
      certificate = jsonb_set(certificate, '{facts,validity,notAfter}', '${past}')`);
    const server = await direct.server.restart();
    await server.logged(/"kind":"program-ended"[^\n]*"reason":"expired"/);
    await server.stop();
  });

  it('ends with the certificate: by its time, and by its revocation', async () => {
    const { direct } = await start();
    const end = Math.floor(Date.now() / 1000) + 7200;
    const until = `${new Date(end * 1000).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
    const own = issuing.issue({ names: ['email:holder@corp.example'], until });
    const token = String((await direct.logIn(own)).body['token']);

    const id = await beginRequest(direct.server, newVerifier());
    const shown = await call(direct.server, 'GET', `/v1/oauth/requests/${id}`, { token });
    expect(shown.body['grantExpiresAt']).toBe(end * 1000);
    const program = await programTokens(direct.server, token);
    expect(decodeJwt(program.access)['session_exp']).toBe(end);
    expect((await programsOf(direct.server, token))[0]).toMatchObject({ expiresAt: end * 1000 });

    issuing.revoke(own);
    publish({ ...files, 'crl.pem': revocationLists() }, 'holder');
    const answers = await EventStreamFixture.open(direct.server, setup, 'notes');
    await answers.until(sidOf(program.access));
    expect((await refresh(direct.server, program.refresh)).body['error']).toBe('invalid_grant');
    await direct.server.stop();
  });
});

describe('the programs of an account for administrators', () => {
  const isActive = async (token: string): Promise<unknown> =>
    (
      await postForm(
        server,
        '/v1/oauth/introspect',
        { token },
        basic('notes', setup.secretOf('notes')),
      )
    ).body['active'];

  it('has each grant, and ends one with its reason', async () => {
    const token = await person();
    const [first, second] = [
      await programTokens(server, token),
      await programTokens(server, token),
    ];
    const path = `${accountOf(token)}/programs`;
    const { status, body } = await admin.get(`/accounts/${path}`);
    expect(status).toBe(200);
    const listed = body['programs'] as { id: string }[];
    expect(listed).toHaveLength(2);
    expect(listed[0]).toEqual({
      id: expect.any(String),
      client: { id: 'inspector', name: 'Inspector' },
      redirectUri: expect.stringContaining('http://127.0.0.1'),
      resource: { id: 'notes', name: 'notes' },
      scopes: [{ id: 'notes:read', text: 'Read your notes', requires: [] }],
      kind: 'code',
      method: 'key_challenge',
      createdAt: expect.any(Number),
      lastUsedAt: expect.any(Number),
      lastAddress: expect.any(String),
      expiresAt: expect.any(Number),
    });

    const ended = await admin.remove(`${path}/${listed[0]?.id ?? ''}`, 'a lost laptop');
    expect(ended).toMatchObject({ status: 200, body: { success: true } });
    await stream.until(sidOf(second.access));
    expect(await isActive(second.access)).toBe(false);
    expect(await isActive(first.access)).toBe(true);
    expect((await refresh(server, second.refresh)).body['error']).toBe('invalid_grant');
    expect(await endsOf(token)).toEqual([
      { actor: 'alice', reason: 'a lost laptop', detail: 'inspector at notes' },
    ]);
  });

  it('is read by every administrator, and ended by operators alone', async () => {
    const token = await person();
    await programTokens(server, token);
    const [grant] = await programsOf(server, token);
    const reader = new AdminCalls(admin.url, tokens.reader);
    const path = `${accountOf(token)}/programs`;
    expect((await reader.get(`/accounts/${path}`)).status).toBe(200);
    const refused = await reader.remove(`${path}/${grant?.id ?? ''}`);
    expect(refusalOf(refused)).toEqual({ status: 403, code: 'admin-role-required' });
    const [other] = await programsOf(server, token);
    const stranger = `${accountOf(await person())}/programs/${other?.id ?? ''}`;
    expect(refusalOf(await admin.remove(stranger))).toEqual({ status: 404, code: 'not-found' });
    expect(await programsOf(server, token)).toHaveLength(1);
  });
});
