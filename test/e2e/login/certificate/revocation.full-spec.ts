import type { ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { decodeJwt } from 'jose';
import { Pool } from 'pg';
import { HoldingProxy } from '../../../helpers/holding-proxy.js';
import { listen } from '../../../helpers/local-server.js';
import {
  TestAuthority,
  type CertificateRequest,
  type IssuedCertificate,
} from '../../../fixtures/certificates-fixture.js';
import { call } from '../../../helpers/client.js';
import { connect, type LiveClient } from '../../../helpers/client-live.js';
import { createStore, type Store } from '../../../fixtures/programs/store-fixture.js';
import { freePort } from '../../../fixtures/programs/service-process.js';
import { waitFor } from '../../../helpers/wait.js';
import {
  chained,
  directory,
  files,
  issuing,
  publish,
  revocationLists,
  root,
  startDirect,
  startResponder,
  type DirectServer,
} from '../../../fixtures/tls-listener-fixture.js';

/** An interval so long that only a test causes a re-check. */
const NEVER = { AUTH_OFFBOARDING_INTERVAL_SECONDS: '86400' };

interface Person {
  readonly own: IssuedCertificate;
  readonly token: string;
  readonly live: LiveClient;
}

let people = 0;
const certificate = (): IssuedCertificate =>
  issuing.issue({ names: [`email:person${(people += 1)}@corp.example`] });

async function person(direct: DirectServer, own = certificate()): Promise<Person> {
  const { status, body } = await direct.logIn(own);
  expect(status).toBe(200);
  const token = String(body['token']);
  const live = await connect(direct.server, { token });
  await live.next('hello');
  return { own, token, live };
}

async function expectOut({ server }: DirectServer, { token, live }: Person, reason: string) {
  expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'mtls' });
  expect(await live.disconnected).toBe('io server disconnect');
  const answer = await call(server, 'GET', '/v1/push-tokens', { token });
  expect(answer).toMatchObject({ status: 403, body: { code: 'not-eligible', provider: 'mtls' } });
  expect(await eligibilityOf({ server }, { token })).toMatchObject({
    status: 'ineligible',
    reason,
  });
}

async function eligibilityOf(
  { server }: Pick<DirectServer, 'server'>,
  { token }: Pick<Person, 'token'>,
): Promise<unknown> {
  const { body } = await call(server, 'GET', '/v1/account/profile', { token });
  const [identity] = body['identities'] as { eligibility: unknown }[];
  return identity?.eligibility;
}

const claimsOf = (token: string) => decodeJwt<Record<string, number>>(token);

describe('revocation lists in a file', () => {
  let direct: DirectServer;
  beforeAll(async () => {
    direct = await startDirect({}, { env: NEVER });
  });
  afterAll(() => direct.server.stop());

  it('ends access of the certificate that the file lists, and of no other', async () => {
    const [revoked, other] = [await person(direct), await person(direct)];
    issuing.revoke(revoked.own);
    publish({ ...files, 'crl.pem': revocationLists() }, 'revoked');
    await expectOut(direct, revoked, 'revoked');
    await expect(direct.logIn(revoked.own)).rejects.toThrow(
      /alert|ECONNRESET|socket hang up|EPIPE/,
    );
    expect(other.live.socket.connected).toBe(true);
    expect(await eligibilityOf(direct, other)).toMatchObject({ status: 'eligible' });
    other.live.close();
  });

  it('ends sessions of an older certificate of a person, and keeps those of the newest', async () => {
    const names = ['email:two-devices@corp.example'];
    const [lost, kept] = [issuing.issue({ names }), issuing.issue({ names })];
    const [older, newer] = [await person(direct, lost), await person(direct, kept)];
    const again = String((await direct.logIn(lost)).body['token']);
    expect((await direct.logIn(kept)).status).toBe(200);
    issuing.revoke(lost);
    publish({ ...files, 'crl.pem': revocationLists() }, 'older');
    expect(await older.live.next('closing')).toMatchObject({ code: 'token-revoked' });
    for (const token of [older.token, again]) {
      await waitFor('the session to end', async () => {
        const { status, body } = await call(direct.server, 'GET', '/v1/account/profile', { token });
        return status === 401 && body['code'] === 'token-revoked';
      });
    }
    expect(await eligibilityOf(direct, newer)).toMatchObject({ status: 'eligible' });
    expect(newer.live.socket.connected).toBe(true);
    newer.live.close();
  });

  it('ends access of a certificate that the file came to list while no server ran', async () => {
    const stopped = await startDirect({}, { env: NEVER });
    const { own, token } = await person(stopped);
    await stopped.server.kill('SIGKILL');
    issuing.revoke(own);
    publish({ ...files, 'crl.pem': revocationLists() }, 'away');
    const next = await stopped.server.restart();
    const ask = () => call(next, 'GET', '/v1/push-tokens', { token });
    await waitFor('the refusal', async () => (await ask()).status === 403);
    await next.stop();
  });

  it('ends access when the authority is no longer trusted', async () => {
    const holder = await person(direct);
    const other = TestAuthority.root(directory, 'Other Root');
    publish({ ...files, 'ca.crt': other.cert, 'crl.pem': other.revocationList() }, 'other');
    await expectOut(direct, holder, 'not_trusted');
  });
});

describe('a revocation list at an address', () => {
  let direct: DirectServer;
  let list = issuing.revocationList();
  let isDown = false;
  const lists = new Map([['/root', root.revocationList()]]);
  const requests = new Set<string>();
  let host: string;
  const source = createServer((request, response) => {
    requests.add(request.url ?? '');
    response.statusCode = isDown ? 503 : 200;
    response.end(isDown ? '' : (lists.get(request.url ?? '') ?? list));
  });

  beforeAll(async () => {
    host = `127.0.0.1:${await listen(source)}`;
    const fetched = {
      CRL_PATH: '',
      CRL_URLS: `http://${host}/a,http://${host}/root`,
      CRL_ALLOWED_HOSTS: host,
      CRL_FETCH_SECONDS: '5',
    };
    direct = await startDirect(fetched, { env: NEVER });
  });
  afterAll(async () => {
    await direct.server.stop();
    source.close();
  });

  it('ends access once it lists the certificate, and refuses its login', async () => {
    const revoked = await person(direct);
    issuing.revoke(revoked.own);
    list = issuing.revocationList();
    await expectOut(direct, revoked, 'revoked');
    const profile = await call(direct.server, 'GET', '/v1/account/profile', revoked);
    const accountId = String(profile.body['id']);
    expect(await direct.logIn(revoked.own)).toMatchObject({
      status: 403,
      body: { code: 'not-eligible', accountId },
    });
    const returnTo = 'https://app.example/login';
    const path = `/v1/auth/mtls/complete?${new URLSearchParams({ returnTo })}`;
    const { location } = await direct.get(chained(revoked.own), path);
    expect(location).toBe(`${returnTo}?error=not_eligible&account=${accountId}&reason=revoked`);
    // An older list that is sent again changes nothing, and neither does an unavailable source.
    isDown = true;
    await direct.server.logged(/revocation list not fetched/);
    expect((await direct.logIn(revoked.own)).status).toBe(403);
    const other = await person(direct);
    expect(await eligibilityOf(direct, other)).toMatchObject({ status: 'eligible' });
    other.live.close();
    isDown = false;
  });

  it('is requested at the address in the certificate, on allowed hosts only', async () => {
    const at = (address: string): IssuedCertificate =>
      issuing.issue({
        names: [`email:person${(people += 1)}@corp.example`],
        extensions: [`crlDistributionPoints=URI:${address}`],
      });
    list = issuing.revocationList();
    lists.set('/own', list);
    const revoked = await person(direct, at(`http://${host}/own`));
    const elsewhere = await person(direct, at(`http://localhost:${host.split(':')[1]}/elsewhere`));
    elsewhere.live.close();
    issuing.revoke(revoked.own);
    // The configured address serves the previous list.
    lists.set('/a', list);
    lists.set('/own', issuing.revocationList());
    await expectOut(direct, revoked, 'revoked');
    expect([...requests].sort()).toEqual(['/a', '/own', '/root']);
  });
});

describe('the certificate of a session that does not send it again', () => {
  let store: Store;
  let sql: Pool;
  let direct: DirectServer;
  let responder: ChildProcess;
  let port: number;
  let extensions: string[];
  let address: HoldingProxy;
  const options = { AUTH_OFFBOARDING_INTERVAL_SECONDS: '3600' };
  let mtls: Record<string, string>;

  beforeAll(async () => {
    store = await createStore();
    sql = new Pool({ connectionString: store.databaseUrl ?? '', max: 1 });
    sql.on('error', () => undefined);
    port = await freePort();
    address = await HoldingProxy.start({ url: `http://127.0.0.1:${port}` });
    extensions = [`authorityInfoAccess=OCSP;URI:${address.url}/`];
    // The lists of the file are those of the start: they answer for the authority between.
    mtls = { OCSP_ENABLED: '1', CRL_ALLOWED_HOSTS: new URL(address.url).host };
    responder = await startResponder(issuing, port);
    direct = await startDirect(mtls, { store, env: options });
  });
  afterAll(async () => {
    responder.kill('SIGKILL');
    await address.close();
    await direct.server.stop();
    await sql.end();
    await store.drop();
  });

  /** Sends a request, after which the program reads its index again. */
  const reread = async (): Promise<void> => {
    const socket = connectTcp(port, '127.0.0.1');
    socket.end('GET / HTTP/1.0\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
  };
  const known = async (more: CertificateRequest = {}): Promise<IssuedCertificate> => {
    const names = [`email:person${(people += 1)}@corp.example`];
    const own = issuing.issue({ names, extensions, ...more });
    await reread();
    return own;
  };

  /** Ages the last good answer by this time, and makes the identities due. */
  const pass = (seconds: number) =>
    sql.query(
      `UPDATE identity SET eligibility_next_check_at = now(),
         eligibility_checked_at = eligibility_checked_at - $1 * interval '1 second'`,
      [seconds],
    );

  it('stores the identifiers of the certificate, and issues a token of twelve hours', async () => {
    const { own, token, live } = await person(direct, await known());
    live.close();
    const { exp = 0, iat = 0 } = claimsOf(token);
    expect(exp - iat).toBe(43_200);
    const { rows } = await sql.query<{ certificate: Record<string, Record<string, unknown>> }>(
      `SELECT certificate FROM identity WHERE subject = $1`,
      [`san_email:person${people}@corp.example`],
    );
    const { facts, reference } = rows[0]?.certificate ?? {};
    const x509 = new X509Certificate(own.cert);
    expect(reference).toMatchObject({
      serialNumber: x509.serialNumber.toLowerCase().replace(/^(00)+/, ''),
      authorityKeyId: expect.stringMatching(/^[0-9a-f]{40}$/),
      subjectKeyId: expect.stringMatching(/^[0-9a-f]{40}$/),
      ocspUrls: [expect.stringContaining('http://127.0.0.1:')],
    });
    expect(facts?.['validity']).toMatchObject({ notAfter: Date.parse(x509.validTo) });
  });

  it('issues no token that outlives the certificate', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString().replace(/\D/g, '').slice(0, 14);
    const own = await known({ until: `${until}Z` });
    const { body } = await direct.logIn(own);
    const { validTo } = new X509Certificate(own.cert);
    expect((claimsOf(String(body['token'])).exp ?? 0) * 1000).toBe(Date.parse(validTo));
  });

  it('ends access when the certificate expires', async () => {
    const holder = await person(direct, await known());
    await sql.query(
      `UPDATE identity SET eligibility_next_check_at = now(), certificate =
         jsonb_set(certificate, '{facts,validity,notAfter}', to_jsonb($1::bigint))
       WHERE subject = $2`,
      [Date.now() - 1000, `san_email:person${people}@corp.example`],
    );
    await expectOut(direct, holder, 'expired');
  });

  it('ends access when the responder reports it as revoked', async () => {
    const [revoked, other] = [
      await person(direct, await known()),
      await person(direct, await known()),
    ];
    issuing.revoke(revoked.own);
    await reread();
    await pass(3600);
    await expectOut(direct, revoked, 'revoked');
    expect((await direct.logIn(revoked.own)).status).toBe(403);
    await waitFor('the other one is checked', async () => {
      const found = await eligibilityOf(direct, other);
      const { status, checkedAt } = found as { status: string; checkedAt: number };
      return status === 'eligible' && Date.now() - checkedAt < 1_800_000;
    });
    other.live.close();
  });

  it('keeps a refusal that is newer than the answer to a login', async () => {
    const { own, token, live } = await person(direct, await known());
    live.close();
    const later = await startDirect(mtls, { store, env: options });
    const answering = address.hold(/^POST/, 'answer');
    const login = later.logIn(own);
    const answer = await answering;
    issuing.revoke(own);
    await reread();
    await pass(0);
    const isOut = async () =>
      /ineligible/.test(JSON.stringify(await eligibilityOf(direct, { token })));
    await waitFor('the refusal', isOut);
    answer.release();
    expect(await login).toMatchObject({ status: 403, body: { code: 'not-eligible' } });
    await later.server.stop();
  });

  it('keeps the last answer while the responder is unavailable, unless strict', async () => {
    const holder = await person(direct, await known());
    responder.kill('SIGKILL');
    await once(responder, 'exit');
    await pass(3601);
    await waitFor('a check without an answer', async () => {
      const { rowCount } = await sql.query(
        `SELECT 1 FROM identity WHERE subject = $1 AND eligibility_status = 'eligible'
           AND eligibility_reason = 'ocsp_unavailable'`,
        [`san_email:person${people}@corp.example`],
      );
      return rowCount === 1;
    });
    expect(holder.live.socket.connected).toBe(true);
    holder.live.close();

    const strict = await startDirect(mtls, {
      store,
      env: { ...options, AUTH_OFFBOARDING_STRICT: '1' },
    });
    const refused = await call(strict.server, 'GET', '/v1/push-tokens', holder);
    expect(refused).toMatchObject({ status: 403, body: { code: 'not-eligible' } });
    expect((await strict.logIn(holder.own)).status).toBe(503);
    await strict.server.stop();

    // A known person logs in by the last answer. A person without an answer is refused.
    const later = await startDirect(mtls, { store, env: options });
    expect((await later.logIn(holder.own)).status).toBe(200);
    const stranger = issuing.issue({ names: ['email:new@corp.example'], extensions });
    expect(await later.logIn(stranger)).toMatchObject({
      status: 503,
      body: { code: 'unavailable' },
    });
    // No login writes a line of its own.
    await later.logIn(stranger);
    const lines = later.server.logs().match(/client certificate not checked for revocation/g);
    expect(lines).toHaveLength(1);
    await later.server.stop();
  });
});
