import { createHash } from 'node:crypto';
import {
  issuing,
  startDirect,
  type DirectServer,
  chained,
} from '../../../fixtures/tls-listener-fixture.js';
import {
  callFrom,
  FORWARDED,
  mtlsEnv,
  PROXY,
  STRANGER,
} from '../../../fixtures/certificate-login-fixture.js';
import type { IssuedCertificate } from '../../../fixtures/certificates-fixture.js';
import { call, logIn, type Login } from '../../../helpers/client.js';
import { connect } from '../../../helpers/client-live.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';

const CONNECT = '/v1/connect/certificate';
const RETURN_TO = 'https://app.example/login';

let people = 0;
const certificate = (): IssuedCertificate =>
  issuing.issue({ names: [`email:connect${(people += 1)}@corp.example`] });

const statusOf = async (server: Server, { token }: Login): Promise<number> =>
  (await call(server, 'GET', '/v1/push-tokens', { token })).status;

describe('a certificate that is required, in mode direct', () => {
  let direct: DirectServer;
  let server: Server;

  beforeAll(async () => {
    // Accounts have device keys only, because certificates cannot log in here.
    const env = {
      AUTH_REQUIRED_LOGIN_PROVIDERS: 'mtls',
      SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '0',
      SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'required_e2ee',
    };
    direct = await startDirect({ PUBLIC_URL: 'https://tls.example' }, { env });
    ({ server } = direct);
  });
  afterAll(() => direct.server.stop());

  const show = (own: IssuedCertificate, { token }: Login) =>
    direct.post(
      { ...chained(own), agent: false, headers: { authorization: `Bearer ${token}` } },
      CONNECT,
    );

  it('is connected on the port that requests it, and permits every route, deletion included', async () => {
    const person = await logIn(server);
    expect(await call(server, 'DELETE', '/v1/account', person)).toMatchObject({
      status: 403,
      body: { code: 'provider-required', provider: 'mtls' },
    });
    const { body } = await call(server, 'GET', '/v1/features');
    const methods = (body['capabilities'] as { auth: { methods: unknown[] } }).auth.methods;
    expect(methods).toContainEqual({ method: 'mtls', action: 'connect', mode: 'keyed' });
    // The certificate cannot be connected on the port that does not request it.
    expect(await call(server, 'POST', CONNECT, person)).toMatchObject({
      status: 401,
      body: { code: 'mtls-required' },
    });
    const own = certificate();
    expect(await show(own, person)).toEqual({ status: 200, body: { success: true } });
    expect(await statusOf(server, person)).toBe(200);
    const profile = await call(server, 'GET', '/v1/account/profile', person);
    expect(profile.body).toMatchObject({
      identities: [{ provider: 'mtls', login: `connect${people}@corp.example` }],
    });
    expect((await call(server, 'DELETE', '/v1/account', person)).status).toBe(200);
  });

  it('creates one identity for 50 simultaneous calls, and for one account', async () => {
    const [person, other] = [await logIn(server), await logIn(server)];
    const own = certificate();
    const answers = await Promise.all(Array.from({ length: 50 }, () => show(own, person)));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    const { body } = await call(server, 'GET', '/v1/account/profile', person);
    expect(body['identities']).toHaveLength(1);
    const conflict = { status: 409, body: { code: 'provider-already-linked', provider: 'mtls' } };
    expect(await show(own, other)).toMatchObject(conflict);
    // A second certificate cannot be connected to the same account.
    expect(await show(certificate(), person)).toMatchObject(conflict);

    const accounts = await Promise.all(Array.from({ length: 50 }, () => logIn(server)));
    const wanted = certificate();
    const raced = await Promise.all(accounts.map((account) => show(wanted, account)));
    expect(raced.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(409)]);
  });

  it('ends access and live connections when it is disconnected', async () => {
    const person = await logIn(server);
    await show(certificate(), person);
    const live = await connect(server, { token: person.token });
    await live.next('hello');
    expect((await call(server, 'DELETE', CONNECT, person)).body).toEqual({ success: true });
    expect(await live.next('closing')).toMatchObject({ code: 'provider-required' });
    expect(await statusOf(server, person)).toBe(403);
    expect((await call(server, 'DELETE', CONNECT, person)).body).toEqual({ success: true });
  });

  it('refuses to connect a certificate without a token', async () => {
    for (const method of ['POST', 'DELETE'] as const) {
      expect((await call(server, method, CONNECT)).status).toBe(401);
    }
    expect((await call(server, 'GET', `${CONNECT}/start`)).status).toBe(401);
  });

  describe('through a browser', () => {
    const begin = async (person: Login, more: Readonly<Record<string, string>> = {}) => {
      const query = new URLSearchParams({ returnTo: RETURN_TO, ...more }).toString();
      const { body } = await call(server, 'GET', `${CONNECT}/start?${query}`, person);
      const url = new URL(String(body['url']));
      expect(url.href).toMatch(
        /^https:\/\/tls\.example\/v1\/connect\/certificate\/complete\?state=/,
      );
      return url.pathname + url.search;
    };
    const complete = async (own: IssuedCertificate | null, path: string): Promise<URL> => {
      const { location } =
        own === null
          ? await callFrom(STRANGER, server, [], 'GET', path)
          : await direct.get(chained(own), path);
      return new URL(location ?? '');
    };

    it('returns a code that connects once, for the account that began', async () => {
      const [person, thief] = [await logIn(server), await logIn(server)];
      const proof = 'a secret of this client';
      const proofHash = createHash('sha256').update(proof).digest('hex');
      const path = await begin(person, { proofHash });
      const back = await complete(certificate(), path);
      expect(back.origin + back.pathname).toBe(RETURN_TO);
      expect(back.searchParams.get('flow')).toBe('connect');
      const code = back.searchParams.get('code');
      const finish = (who: Login, body: object) => call(server, 'POST', CONNECT, { ...who, body });
      expect((await finish(thief, { code, proof })).body).toMatchObject({ code: 'invalid-code' });
      expect((await finish(person, { code })).body).toMatchObject({ code: 'invalid-proof' });
      const login = await call(server, 'POST', '/v1/auth/mtls/claim', { body: { code, proof } });
      expect(login.status).toBeGreaterThanOrEqual(400);
      expect((await finish(person, { code, proof })).body).toEqual({ success: true });
      expect(await statusOf(server, person)).toBe(200);
      expect((await finish(person, { code, proof })).body).toMatchObject({ code: 'invalid-code' });
      // The address works once.
      const again = await callFrom(STRANGER, server, [], 'GET', path);
      expect(again).toMatchObject({ status: 400, body: { code: 'invalid-pending' } });
    });

    it('returns an error where no certificate is sent', async () => {
      const back = await complete(null, await begin(await logIn(server)));
      expect(back.searchParams.get('error')).toBe('mtls_required');
      expect(back.searchParams.get('code')).toBeNull();
    });

    it('returns to addresses of the allowlist only', async () => {
      const query = new URLSearchParams({ returnTo: 'https://evil.example/' }).toString();
      const answer = await call(server, 'GET', `${CONNECT}/start?${query}`, await logIn(server));
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-return-to' } });
    });
  });
});

describe('a certificate that a proxy forwards', () => {
  it('is connected, and a forged one is refused', async () => {
    const server = await startServer({
      env: {
        ...mtlsEnv({ FORWARDED_PRESET: 'ingress-nginx' }),
        AUTH_REQUIRED_LOGIN_PROVIDERS: 'mtls',
      },
    });
    try {
      const person = await logIn(server);
      const own = certificate();
      const headers = [
        ['authorization', `Bearer ${person.token}`] as const,
        ...(FORWARDED['ingress-nginx']?.(own, issuing) ?? []),
      ];
      const forged = await callFrom(STRANGER, server, headers, 'POST', CONNECT);
      expect(forged).toMatchObject({ status: 401, body: { code: 'mtls-required' } });
      const connected = await callFrom(PROXY, server, headers, 'POST', CONNECT);
      expect(connected).toMatchObject({ status: 200, body: { success: true } });
      expect(await statusOf(server, person)).toBe(200);
      // The account has a device key, so the certificate cannot log in to it.
      const login = await callFrom(PROXY, server, headers.slice(1));
      expect(login).toMatchObject({ status: 409, body: { code: 'restore-required' } });
    } finally {
      await server.stop();
    }
  });

  it('is refused where certificates are disabled', async () => {
    const server = await startServer();
    try {
      const person = await logIn(server);
      const answer = await call(server, 'POST', CONNECT, person);
      expect(answer).toMatchObject({ status: 404, body: { code: 'not-found' } });
    } finally {
      await server.stop();
    }
  });
});
