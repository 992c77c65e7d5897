import { spawnSync, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listen } from '../../../helpers/local-server.js';
import { parseCertificate } from '../../../../src/core/x509/parse-certificate.js';
import { TestAuthority, type IssuedCertificate } from '../../../fixtures/certificates-fixture.js';
import { changedList } from '../../../fixtures/revocation-lists-fixture.js';
import { call, logIn } from '../../../helpers/client.js';
import { connect, type LiveClient } from '../../../helpers/client-live.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { freePort } from '../../../fixtures/programs/service-process.js';
import { waitFor } from '../../../helpers/wait.js';
import {
  directory,
  files,
  publish,
  root,
  startDirect,
  startResponder,
  volume,
  type DirectServer,
} from '../../../fixtures/tls-listener-fixture.js';
import {
  callFrom,
  FORWARDED,
  mtlsEnv,
  PROXY,
} from '../../../fixtures/certificate-login-fixture.js';

/** So long that only what a test does can be the cause of a re-check. */
const NEVER = { AUTH_OFFBOARDING_INTERVAL_SECONDS: '86400' };
const FETCH_SECONDS = '5';

/** Lists by path; null = 404. */
const lists = new Map<string, string | null>();
const source = createServer((request, response) => {
  const list = lists.get(request.url ?? '') ?? null;
  response.statusCode = list === null ? 404 : 200;
  response.end(list);
});

const host = `127.0.0.1:${await listen(source)}`;
afterAll(() => source.close());

let made = 0;
const authority = (extensions: readonly string[] = []): TestAuthority =>
  TestAuthority.under(root, {
    subject: `/O=Acme/CN=Issuing ${(made += 1)}`,
    usage: null,
    extensions: [
      'basicConstraints=critical,CA:TRUE,pathlen:0',
      'keyUsage=critical,keyCertSign,cRLSign',
      ...extensions,
    ],
  });
const client = (issuer: TestAuthority, extensions: readonly string[] = []): IssuedCertificate =>
  issuer.issue({ names: [`email:path${(made += 1)}@corp.example`], extensions });
const serialOf = (own: Pick<IssuedCertificate, 'der'>): string =>
  parseCertificate(own.der)?.serialNumber ?? '';

const show = (direct: DirectServer, own: IssuedCertificate, issuer: TestAuthority) =>
  direct.post({ cert: own.cert + issuer.cert, key: own.key, agent: false });

interface Person {
  readonly token: string;
  readonly live: LiveClient;
}

async function enter(
  direct: DirectServer,
  own: IssuedCertificate,
  issuer: TestAuthority,
): Promise<Person> {
  const { status, body } = await show(direct, own, issuer);
  expect({ status, body }).toMatchObject({ status: 200 });
  const token = String(body['token']);
  const live = await connect(direct.server, { token });
  await live.next('hello');
  return { token, live };
}

async function expectOut(server: Server, { token, live }: Person, reason: string): Promise<void> {
  expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'mtls' });
  expect(await eligibilityOf(server, token)).toMatchObject({ status: 'ineligible', reason });
}

async function eligibilityOf(server: Server, token: string): Promise<unknown> {
  const { body } = await call(server, 'GET', '/v1/account/profile', { token });
  const [identity] = body['identities'] as { eligibility: unknown }[];
  return identity?.eligibility;
}

/** Returns true if `openssl verify -crl_check_all` accepts the chain with these lists. */
function opensslAccepts(own: IssuedCertificate, issuer: TestAuthority, crls: string): boolean {
  const path = join(directory, 'verify-crls.pem');
  writeFileSync(path, crls);
  const options = ['-crl_check_all', '-CRLfile', path, '-CAfile', root.certPath];
  const { status } = spawnSync('openssl', [
    ...['verify', ...options, '-untrusted', issuer.certPath, own.certPath],
  ]);
  return status === 0;
}

describe('lists at addresses', () => {
  const issuing = authority();
  const impostor = TestAuthority.root(directory, 'Impostor', 'Other');
  let direct: DirectServer;

  beforeAll(async () => {
    lists.set('/root', root.revocationList());
    lists.set('/issuing', issuing.revocationList());
    const urls = { CRL_URLS: `http://${host}/root,http://${host}/issuing` };
    const options = { CRL_PATH: '', ...urls, CRL_FETCH_SECONDS: FETCH_SECONDS };
    direct = await startDirect({ ...options, CRL_ALLOWED_HOSTS: host }, { env: NEVER });
  });
  afterAll(() => direct.server.stop());

  it('continues to revoke after a forged and a future list', async () => {
    const [own, other] = [client(issuing), client(issuing)];
    const [revoked, kept] = [
      await enter(direct, own, issuing),
      await enter(direct, other, issuing),
    ];
    const far = new Date(Date.now() + 10 * 365 * 86_400_000);
    const serialNumbers = [serialOf(other)];
    const forged = { signer: impostor, serialNumbers };
    lists.set('/issuing', changedList(issuing, { ...forged, nextUpdate: far }));
    await direct.server.logged(/revocation list not fetched.*list_not_signed/);
    const thisUpdate = new Date(Date.now() + 3_600_000);
    lists.set('/issuing', changedList(issuing, { ...forged, thisUpdate, nextUpdate: far }));
    await direct.server.logged(/revocation list not fetched.*list_in_future/);
    issuing.revoke(own);
    lists.set('/issuing', issuing.revocationList());
    await expectOut(direct.server, revoked, 'revoked');
    expect((await show(direct, own, issuing)).status).toBe(403);
    // The forged lists named this one.
    expect(kept.live.socket.connected).toBe(true);
    expect((await show(direct, other, issuing)).status).toBe(200);
    kept.live.close();
  });

  it('requires an answer of each distribution point', async () => {
    const pointed = (path: string) =>
      client(issuing, [`crlDistributionPoints=URI:http://${host}${path}`]);
    lists.set('/point', issuing.revocationList());
    expect((await show(direct, pointed('/point'), issuing)).status).toBe(200);
    const unavailable = { status: 503, body: { code: 'unavailable' } };
    expect(await show(direct, pointed('/none'), issuing)).toMatchObject(unavailable);
    const ended = { thisUpdate: new Date(Date.now() - 7_200_000), nextUpdate: new Date() };
    lists.set('/expired', changedList(issuing, ended));
    expect(await show(direct, pointed('/expired'), issuing)).toMatchObject(unavailable);
  });

  it('revokes a certificate between the code of its browser and the connection', async () => {
    const own = client(issuing);
    const returnTo = 'https://app.example/login';
    const person = await logIn(direct.server);
    const query = new URLSearchParams({ returnTo }).toString();
    const path = `/v1/connect/certificate/start?${query}`;
    const { body } = await call(direct.server, 'GET', path, person);
    const startUrl = String(body['url']);
    const presented = { cert: own.cert + issuing.cert, key: own.key };
    const { location } = await direct.get(presented, `/v1/connect/certificate/${startUrl}`);
    const code = new URL(location ?? '').searchParams.get('code');
    const bystander = await enter(direct, own, issuing);
    issuing.revoke(own);
    lists.set('/issuing', issuing.revocationList());
    // The server has the new list now.
    expect(await bystander.live.next('closing')).toMatchObject({ code: 'not-eligible' });
    const refused = await call(direct.server, 'POST', '/v1/connect/certificate', {
      ...person,
      body: { code },
    });
    expect(refused).toMatchObject({ status: 403, body: { code: 'not-eligible' } });
  });

  it('ends access under a revoked authority, and refuses logins, as openssl does', async () => {
    const own = client(issuing);
    const crls = (): string => issuing.revocationList() + root.revocationList();
    expect(opensslAccepts(own, issuing, crls())).toBe(true);
    lists.set('/issuing', issuing.revocationList());
    const holder = await enter(direct, own, issuing);
    root.revoke(issuing);
    expect(opensslAccepts(own, issuing, crls())).toBe(false);
    lists.set('/root', root.revocationList());
    await expectOut(direct.server, holder, 'issuer_revoked');
    expect(await show(direct, own, issuing)).toMatchObject({
      status: 403,
      body: { code: 'not-eligible' },
    });
  });
});

describe('lists at addresses without one of the root', () => {
  it('refuses the authority below the root', async () => {
    const issuing = authority();
    lists.set('/issuing', issuing.revocationList());
    const options = { CRL_PATH: '', CRL_URLS: `http://${host}/issuing` };
    const direct = await startDirect(options, { env: NEVER });
    try {
      expect(await show(direct, client(issuing), issuing)).toMatchObject({
        status: 503,
        body: { code: 'unavailable' },
      });
      await direct.server.logged(/not checked for revocation.*issuer_crl_missing/);
    } finally {
      await direct.server.stop();
    }
  });
});

describe('lists in a file', () => {
  it('ends access under a revoked authority', async () => {
    const issuing = authority();
    const crls = (): string => issuing.revocationList() + root.revocationList();
    const direct = await startDirect({}, { env: NEVER });
    try {
      publish({ ...files, 'crl.pem': crls() }, 'path-before');
      await direct.server.logged(/certificate files have changed/);
      const holder = await enter(direct, client(issuing), issuing);
      root.revoke(issuing);
      publish({ ...files, 'crl.pem': crls() }, 'path-revoked');
      await expectOut(direct.server, holder, 'issuer_revoked');
    } finally {
      await direct.server.stop();
    }
  });

  it('counts lists with a signature of the authority, also where a proxy verified the chain', async () => {
    const issuing = authority();
    const stranger = TestAuthority.root(directory, 'Stranger', 'Other');
    const [own, other] = [client(issuing), client(issuing)];
    const forged = (serial: string): string =>
      changedList(issuing, { signer: stranger, serialNumbers: [serial] });
    const path = (name: string): string => join(volume, '..data', name);
    const begin = { ...files, 'ca.crt': root.cert + issuing.cert };
    publish({ ...begin, 'crl.pem': forged(serialOf(own)) }, 'forged');
    const paths = { CA_PATH: path('ca.crt'), CRL_PATH: path('crl.pem') };
    const env = mtlsEnv({ FORWARDED_PRESET: 'traefik', ...paths });
    const server = await startServer({ env: { ...env, ...NEVER } });
    const forward = (presented: IssuedCertificate) =>
      callFrom(PROXY, server, FORWARDED['traefik']?.(presented, issuing) ?? []);
    try {
      // Neither one is accepted nor the other refused.
      expect([(await forward(own)).status, (await forward(other)).status]).toEqual([503, 503]);
      const lists = issuing.revocationList();
      publish({ ...begin, 'crl.pem': lists + forged(serialOf(own)) }, 'both');
      await waitFor('the genuine list', async () => (await forward(own)).status === 200);
      const token = String((await forward(own)).body.token);
      const live = await connect(server, { token });
      await live.next('hello');
      issuing.revoke(own);
      publish({ ...begin, 'crl.pem': forged(serialOf(own)) + issuing.revocationList() }, 'then');
      await expectOut(server, { token, live }, 'revoked');
      expect((await forward(other)).status).toBe(200);
    } finally {
      await server.stop();
    }
  });
});

describe('responders', () => {
  it('asks responders about the intermediate authority, too', async () => {
    const port = await freePort();
    const responders: ChildProcess[] = [];
    const respond = async (issuer: TestAuthority, at: number): Promise<void> => {
      responders.push(await startResponder(issuer, at));
    };
    const below = await freePort();
    const access = (at: number): string => `authorityInfoAccess=OCSP;URI:http://127.0.0.1:${at}/`;
    const [kept, revoked] = [authority([access(port)]), authority([access(port)])];
    root.revoke(revoked);
    await respond(root, port);
    const hosts = [port, below].map((at) => `127.0.0.1:${at}`).join();
    const direct = await startDirect(
      { CRL_PATH: '', OCSP_ENABLED: '1', CRL_ALLOWED_HOSTS: hosts },
      { env: NEVER },
    );
    try {
      for (const [issuer, expected] of [
        [kept, { status: 200 }],
        [revoked, { status: 403, body: { code: 'not-eligible' } }],
      ] as const) {
        const own = client(issuer, [access(below)]);
        await respond(issuer, below);
        expect(await show(direct, own, issuer)).toMatchObject(expected);
        responders.pop()?.kill('SIGKILL');
      }
    } finally {
      responders.forEach((responder) => responder.kill('SIGKILL'));
      await direct.server.stop();
    }
  });
});
