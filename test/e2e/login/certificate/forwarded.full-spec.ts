import {
  certificateDirectory,
  TestAuthority,
  type IssuedCertificate,
} from '../../../fixtures/certificates-fixture.js';
import { call, refusalOf } from '../../../helpers/client.js';
import { createStore, type Store } from '../../../fixtures/programs/store-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import {
  auditOf,
  callFrom,
  FORWARDED,
  mtlsEnv,
  PROXY,
  spellingsOf,
  STRANGER,
  urlPem,
} from '../../../fixtures/certificate-login-fixture.js';

const directory = certificateDirectory();
const root = TestAuthority.root(directory, 'Acme Root');
const issuing = root.intermediate('Acme Issuing CA');
const alice = issuing.issue({ subject: '/O=Acme/CN=Alice', names: ['email:alice@corp.example'] });

describe.each(Object.keys(FORWARDED))('the preset %s', (preset) => {
  const headers = FORWARDED[preset]?.(alice, issuing) ?? [];
  let server: Server;

  beforeAll(async () => {
    server = await startServer({
      env: mtlsEnv({
        FORWARDED_PRESET: preset,
        ...(preset === 'aws-alb-passthrough' && { CA_PATH: root.certPath }),
        ...(preset === 'custom' && {
          CUSTOM_CERTIFICATE_HEADER: 'X-Tls-Client',
          CUSTOM_DECODER: 'pem-spaces',
        }),
      }),
    });
  });
  afterAll(() => server.stop());

  it('logs in only from the proxy, in any spelling of addresses, and counts other peers', async () => {
    const first = await callFrom(PROXY, server, headers);
    expect(first).toMatchObject({ status: 200, body: { success: true, created: true } });
    const profile = await call(server, 'GET', '/v1/account/profile', {
      token: String(first.body.token),
    });
    expect(profile.body).toMatchObject({
      keyMode: 'keyless',
      identities: [{ provider: 'mtls', login: 'alice@corp.example' }],
    });

    const forged = Array.from({ length: 12 }, (_, index) =>
      headers.map(([name, value]) => [spellingsOf(name)[index] ?? '', value] as const),
    );
    expect(new Set(forged.map(String)).size).toBe(12);
    for (const spelled of [...forged, [...headers, ...headers]]) {
      const answer = await callFrom(STRANGER, server, spelled);
      expect({ spelled: spelled[0]?.[0], status: answer.status, ...answer.body }).toMatchObject({
        status: 401,
        code: 'mtls-required',
      });
      expect(answer.body.token).toBeUndefined();
    }
    // On other routes the headers are removed and counted in the same way.
    const elsewhere = await callFrom(STRANGER, server, headers, 'GET', '/readyz');
    expect(elsewhere.status).toBe(200);

    const twice = await callFrom(PROXY, server, [...headers, ...headers.slice(-1)]);
    expect(twice).toMatchObject({ status: 401, body: { code: 'mtls-required' } });
    for (const [name, value] of headers.slice(-1)) {
      const underscored: [string, string] = [name.replaceAll('-', '_'), value];
      const both = await callFrom(PROXY, server, [...headers, underscored]);
      expect(both).toMatchObject({ status: 401 });
      const alone = await callFrom(PROXY, server, [...headers.slice(0, -1), underscored]);
      expect(alone.status).toBe(preset === 'rfc9440' ? 200 : 401);
    }
    const again = await callFrom(PROXY, server, headers);
    expect(again.body).toMatchObject({ accountId: first.body.accountId, created: false });

    const counted = await auditOf(server);
    expect(counted['untrusted-proxy']).toBe(14);
    expect(counted['header-twice']).toBe(2);
  });
});

describe('forwarded certificates', () => {
  let store: Store;
  let replicas: Server[];

  beforeAll(async () => {
    store = await createStore();
    const env = mtlsEnv({
      FORWARDED_PRESET: 'ingress-nginx',
      ALLOWED_ISSUERS: '"CN=Acme Issuing CA,O=Acme"',
      ALLOWED_EMAIL_DOMAINS: 'corp.example',
    });
    replicas = [];
    for (let count = 0; count < 2; count += 1) {
      replicas.push(await startServer({ env, store }));
    }
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await store.drop();
  });

  const server = (): Server => replicas[0] as Server;
  const logIn = (own: IssuedCertificate, verdict = 'SUCCESS') =>
    callFrom(PROXY, server(), [
      ['ssl-client-verify', verdict],
      ['ssl-client-cert', urlPem(own.cert)],
    ]);

  it('creates one account for a hundred simultaneous first logins of one identity', async () => {
    const bob = issuing.issue({ names: ['email:bob@corp.example'] });
    const headers = FORWARDED['ingress-nginx']?.(bob, issuing) ?? [];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        callFrom(PROXY, replicas[index % replicas.length] as Server, headers),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(new Set(answers.map(({ body }) => body.accountId)).size).toBe(1);
    expect(answers.filter(({ body }) => body.created)).toHaveLength(1);
    expect(answers.every(({ body }) => typeof body.token === 'string')).toBe(true);
  });

  it.each(['NONE', 'FAILED:self-signed certificate', 'success', 'SUCCESS,SUCCESS', ''])(
    'refuses the verdict %j',
    async (verdict) => {
      expect(await logIn(alice, verdict)).toMatchObject({
        status: 401,
        body: { code: 'mtls-required' },
      });
    },
  );

  it.each([
    ['expired', { from: '20200101000000Z', until: '20210101000000Z' }],
    ['not yet valid', { from: '20400101000000Z', until: '20410101000000Z' }],
    ['for servers', { usage: 'serverAuth' }],
    ['of two people', { names: ['email:a@corp.example', 'email:b@corp.example'] }],
    ['of another domain', { names: ['email:alice@other.example'] }],
    ['of no person', { names: ['DNS:corp.example'] }],
    ['of a wildcard', { names: ['email:*@corp.example'] }],
  ])('refuses a certificate that is %s', async (_, request) => {
    const own = issuing.issue({ names: ['email:carol@corp.example'], ...request });
    expect(await logIn(own)).toMatchObject({
      status: 403,
      body: { code: 'not-eligible', provider: 'mtls' },
    });
  });

  it('refuses an issuer of the same common name in another organisation', async () => {
    const other = TestAuthority.root(directory, 'Acme Issuing CA', 'Other');
    const request = { names: ['email:dave@corp.example'] };
    expect((await logIn(other.issue(request))).status).toBe(403);
    expect((await logIn(issuing.issue(request))).status).toBe(200);
  });

  it.each(['(null)', '{http.request.tls.client.certificate_pem}', 'NONE', '', 'garbage', '%'])(
    'reports the certificate %j as missing',
    async (text) => {
      const answer = await callFrom(PROXY, server(), [
        ['ssl-client-verify', 'SUCCESS'],
        ['ssl-client-cert', text],
      ]);
      expect(answer).toMatchObject({ status: 401, body: { code: 'mtls-required' } });
    },
  );

  it('advertises certificates in the features', async () => {
    const { body } = await call(server(), 'GET', '/v1/features');
    expect(body).toMatchObject({ features: { auth: { mtls: { enabled: true } } } });
  });

  describe('in a browser', () => {
    const returnTo = 'https://app.example/login/done?x=1';
    const headers = FORWARDED['ingress-nginx']?.(alice, issuing) ?? [];
    const open = (path: string, address: string, peer = PROXY) =>
      callFrom(peer, server(), headers, 'GET', `${path}?returnTo=${encodeURIComponent(address)}`);
    const claim = (code: unknown) =>
      call(server(), 'POST', '/v1/auth/mtls/claim', { body: { code } });

    it('redirects from start to complete and to the return address, whose code is accepted once', async () => {
      const start = await open('/v1/auth/mtls/start', returnTo);
      expect(start.status).toBe(302);
      const next = new URL(start.location ?? '', `${server().url}/v1/auth/mtls/start`);
      expect(next.pathname).toBe('/v1/auth/mtls/complete');
      const ended = await callFrom(PROXY, server(), headers, 'GET', next.pathname + next.search);
      expect(ended.status).toBe(302);
      const back = new URL(ended.location ?? '');
      expect(back.href).toContain('https://app.example/login/done?x=1&code=');

      const code = back.searchParams.get('code');
      const answers = await Promise.all(Array.from({ length: 20 }, () => claim(code)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const refused = answers.filter(({ status }) => status !== 200).map(refusalOf);
      expect(refused).toEqual(Array(19).fill({ status: 401, code: 'invalid-code' }));
      expect(answers.find(({ status }) => status === 200)?.body).toMatchObject({ success: true });
    });

    it('returns no code to HEAD', async () => {
      const path = `/v1/auth/mtls/complete?returnTo=${encodeURIComponent(returnTo)}`;
      const { status, location } = await callFrom(PROXY, server(), headers, 'HEAD', path);
      expect({ status, location }).toEqual({ status: 404, location: null });
    });

    it('redirects to the return address with the refusal and no code', async () => {
      const ended = await open('/v1/auth/mtls/complete', 'myapp://auth', STRANGER);
      expect(ended.location).toBe('myapp://auth?error=mtls_required');
    });

    it.each(['start', 'complete'])('accepts only allowed return addresses at %s', async (step) => {
      for (const address of ['https://evil.example/', 'https://app.example/loginx', '']) {
        const answer = await open(`/v1/auth/mtls/${step}`, address);
        expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-return-to' } });
      }
      const twice = `returnTo=${encodeURIComponent(returnTo)}`;
      const path = `/v1/auth/mtls/${step}?${twice}&${twice}`;
      expect((await callFrom(PROXY, server(), headers, 'GET', path)).status).toBe(400);
    });

    it.each(['', 'nonsense', 'x'.repeat(128)])('refuses the code %j', async (code) => {
      expect(refusalOf(await claim(code))).toEqual({ status: 401, code: 'invalid-code' });
    });
  });
});

describe('a server that cannot accept certificates', () => {
  it.each([
    ['switched off', mtlsEnv({ ENABLED: '0' }), 404, 'not-found'],
    ['no trusted proxy', mtlsEnv({ TRUSTED_PROXIES: '' }), 401, 'mtls-required'],
    ['no trust in headers', mtlsEnv({ TRUST_FORWARDED_HEADERS: '0' }), 401, 'mtls-required'],
    [
      'accounts with device keys only',
      { ...mtlsEnv(), SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'required_e2ee' },
      403,
      'e2ee-required',
    ],
  ])('refuses certificates: %s', async (_, env, status, code) => {
    const server = await startServer({ env });
    try {
      const answer = await callFrom(PROXY, server, FORWARDED['plain']?.(alice, issuing) ?? []);
      expect(answer).toMatchObject({ status, body: { code } });
      const { body } = await call(server, 'GET', '/v1/features');
      expect(body).toMatchObject({ features: { auth: { mtls: { enabled: false } } } });
    } finally {
      await server.stop();
    }
  });
});
