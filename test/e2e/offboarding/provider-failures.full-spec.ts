import { createServer } from 'node:https';
import { createServer as createSocketServer } from 'node:net';
import { certificateDirectory, selfSigned } from '../../fixtures/certificates-fixture.js';
import { listen, startLocalServer, type Answer } from '../../helpers/local-server.js';
import { call, type Json } from '../../helpers/client.js';
import { createCliUser, type CliUser } from '../../fixtures/programs/cli-fixture.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { begin, params } from '../../fixtures/provider-login-fixture.js';
import { waitFor } from '../../helpers/wait.js';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';

const GRAPH_GROUP = { '@odata.type': '#microsoft.graph.group', id: 'staff' };
const METRICS_TOKEN = 'a-metrics-token-of-the-spec';

async function failingProviders() {
  const directory = certificateDirectory();
  const { cert, key } = selfSigned(directory, 'localhost', 'IP:127.0.0.1');
  const secure = createServer({ cert, key });
  const silent = createSocketServer(() => undefined);
  const wrong = await startLocalServer(() => ({ status: 404, json: {} }));
  const issuers = {
    dns_error: 'https://no-such-host.invalid',
    tls_error: `https://127.0.0.1:${await listen(secure)}`,
    connection_refused: `http://127.0.0.1:${await freePort()}`,
    timeout: `http://127.0.0.1:${await listen(silent)}`,
    bad_discovery: wrong.url,
  };
  return {
    issuers,
    close: async () => {
      secure.close();
      silent.close();
      await wrong.close();
    },
  };
}

describe('a provider that fails', () => {
  let fixture: OffboardingFixture;
  let user: CliUser;

  beforeEach(async () => {
    fixture = await OffboardingFixture.open();
    user = await createCliUser();
  });
  afterEach(() => fixture.close());

  const metricsOf = async (server: Server): Promise<string> =>
    (await call(server, 'GET', '/metrics', { token: METRICS_TOKEN })).text;
  const failures = (provider: string, cause: string): string =>
    `gatehouse_provider_failures_total{provider="${provider}",cause="${cause}"}`;
  const variables = (providers: string): Record<string, string> => ({
    AUTH_PROVIDERS_CONFIG_JSON: providers,
    SERVICE_PUBLIC_URL: 'http://127.0.0.1:1',
  });

  it('reports the cause in log, metrics and doctor, and never in an answer', async () => {
    const { issuers, close } = await failingProviders();
    const entries = Object.entries(issuers).map(([cause, issuer]) => ({
      ...fixture.provider.entry,
      ...{ id: cause, issuer, httpTimeoutSeconds: cause === 'timeout' ? 1 : 60 },
    }));
    const providers = JSON.stringify(entries);
    const server = await fixture.start({
      ...KEYLESS,
      ...{ AUTH_PROVIDERS_CONFIG_JSON: providers, METRICS_TOKEN },
      SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: Object.keys(issuers).join(),
    });
    const query = { mode: 'keyless', proofHash: 'a'.repeat(64) };
    for (const cause of Object.keys(issuers)) {
      expect(await metricsOf(server)).toContain(`${failures(cause, cause)} 0\n`);
      const answer = await params(server, cause, query);
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      const text = answer.text.replaceAll(cause, 'the-provider');
      expect(text).not.toMatch(/dns|tls|cert|refuse|ECONN|ENOT|discovery/i);
      expect(await metricsOf(server)).toContain(`${failures(cause, cause)} 1\n`);
      const linesOf = (text: string): string[] =>
        server
          .logs()
          .split('\n')
          .filter((line) => line.includes('provider failed') && line.includes(text));
      // The log may arrive later than the answer.
      await waitFor('the log line', () => linesOf(`"cause":"${cause}"`).length > 0);
      expect(linesOf(`"cause":"${cause}"`)).toHaveLength(1);
    }

    const doctor = await user.run(['doctor', 'providers', '--json'], variables(providers));
    expect(doctor.code).toBe(1);
    const { steps } = JSON.parse(doctor.stdout) as { steps: { provider: string; cause: string }[] };
    expect(steps.map(({ provider, cause }) => [provider, cause])).toEqual(
      Object.keys(issuers).map((cause) => [cause, cause]),
    );
    const check = await user.run(['config', 'check', '--online'], variables(providers));
    expect(check.code).toBe(1);
    expect(check.stdout).toContain('dns_error: its host name is not resolved (E');
    expect(check.stdout).toContain('tls_error: its certificate, or how it speaks TLS, is not');
    expect((await user.run(['config', 'check'], variables(providers))).code).toBe(0);
    await close();
  });

  it.each(['false', 'true'])(
    'reports a refused client to the operator and not to the person (strict %s)',
    async (strict) => {
      const env = { ...KEYLESS, METRICS_TOKEN, AUTH_OFFBOARDING_STRICT: strict };
      const server = await fixture.start(env);
      const person = await fixture.keylessLogin(server);
      fixture.provider.refusesClient = true;
      await fixture.makeDue(0);
      const refusals =
        'gatehouse_eligibility_checks_total{provider="people",outcome="invalid_client"} ';
      await fixture.until('counted', async () => (await metricsOf(server)).includes(refusals));
      expect(await metricsOf(server)).not.toContain('outcome="ineligible"');
      // The last good check counts, as in an outage: it is not old yet.
      expect(await fixture.statusOf(server, person)).toBe(200);
      await server.logged(/"level":"error"/);
      const logged = server
        .logs()
        .split('\n')
        .filter((line) => line.includes('"level":"error"'));
      expect(logged).toHaveLength(1);
      expect(logged[0]).toContain('it refuses the client id or the client secret of this server');
      expect(logged[0]).toContain(
        strict === 'true' ? 'once their last good check is older than 3600 s' : 'the last answer',
      );

      await fixture.makeDue(3600);
      const isRefused = async () => (await fixture.statusOf(server, person)) === 403;
      await fixture.until('checked again', async () => {
        const { rowCount } = await fixture.sql.query(
          `SELECT 1 FROM identity WHERE consecutive_failures >= 2`,
        );
        return rowCount === 1;
      });
      if (strict === 'true') {
        // The state is stored a moment before the server removes its cached answer for the person.
        await fixture.until('refused', isRefused);
      } else {
        expect(await isRefused()).toBe(false);
      }
      const profile = await call(server, 'GET', '/v1/account/profile', person);
      expect(profile.text).not.toContain('invalid_client');
      expect(profile.body['identities']).toMatchObject([{ eligibility: { reason: null } }]);

      const { url } = await begin(server, 'people', { mode: 'keyless' });
      const callback = fixture.provider.authorize(url, person.sub);
      const back = await fetch(`${server.url}${callback.pathname}${callback.search}`, {
        redirect: 'manual',
      });
      expect(back.headers.get('location')).toMatch(/[?&]error=upstream_error$/);

      fixture.provider.refusesClient = false;
      await fixture.makeDue();
      await fixture.until('served', async () => !(await isRefused()));
      await fixture.until('logged', () => server.logs().includes('provider answers again'));
    },
  );

  it.each([401, 403])(
    'keeps the access of people whose groups Microsoft Graph answers with %i',
    async (status) => {
      let answer: Answer = { status: 200, json: { value: [GRAPH_GROUP] } };
      const graph = await startLocalServer(() => answer);
      const AUTH_PROVIDERS_CONFIG_JSON = fixture.providers({
        ...{ claims: { groups: 'absent' }, entra: { graph: true, graphUrl: graph.url } },
      });
      const server = await fixture.start({ ...KEYLESS, METRICS_TOKEN, AUTH_PROVIDERS_CONFIG_JSON });
      const person = await fixture.keylessLogin(server);
      answer = { status, json: { error: { code: 'Authorization_RequestDenied' } } };
      await fixture.makeDue(0);
      const refused =
        'gatehouse_eligibility_checks_total{provider="people",outcome="groups_refused"} ';
      await fixture.until('counted', async () => (await metricsOf(server)).includes(refused));
      expect(await fixture.statusOf(server, person)).toBe(200);
      expect(await metricsOf(server)).not.toContain('outcome="ineligible"');
      await server.logged(/"level":"error".*it does not let this server read the groups/);
      expect(server.logs()).toContain('"detail":"Authorization_RequestDenied"');
      const { url } = await begin(server, 'people', { mode: 'keyless' });
      const callback = fixture.provider.authorize(url, person.sub);
      const back = await fetch(`${server.url}${callback.pathname}${callback.search}`, {
        redirect: 'manual',
      });
      expect(back.headers.get('location')).toMatch(/[?&]error=upstream_error$/);
      expect(await fixture.statusOf(server, person)).toBe(200);

      // An answer about the person still ends access.
      answer = { status: 200, json: { value: [] } };
      await fixture.makeDue(0);
      await fixture.until('no access', async () => {
        return (await fixture.statusOf(server, person)) === 403;
      });
      await graph.close();
    },
  );

  it('logs once which answer about a person was refused, and leaves the person as they are', async () => {
    const server = await fixture.start(KEYLESS);
    const person = await fixture.keylessLogin(server);
    fixture.provider.now = () => Date.now() - 3_600_000;
    const failures = async (): Promise<number> => {
      const { rows } = await fixture.sql.query<{ count: number }>(
        'SELECT consecutive_failures AS count FROM identity',
      );
      return rows[0]?.count ?? 0;
    };
    for (const count of [1, 2]) {
      await fixture.makeDue();
      await fixture.until('checked', async () => (await failures()) >= count);
    }
    await server.logged(/answer of a provider about a person refused/);
    const lines = server
      .logs()
      .split('\n')
      .filter((line) => line.includes('answer of a provider'));
    expect(lines.map((line) => JSON.parse(line) as Json)).toMatchObject([
      { level: 'warn', provider: 'people', reason: 'invalid_response', detail: 'claim_exp' },
    ]);
    expect(await fixture.statusOf(server, person)).toBe(200);
  });

  it('reports a refused client in the doctor, and passes an accepted one', async () => {
    const providers = fixture.providers({ clientSecret: 'the secret of last year' });
    const good = await user.run(['doctor', 'providers'], variables(fixture.providers()));
    expect(good).toMatchObject({ code: 0, stderr: '' });
    expect(good.stdout).toMatch(/^pass +people +client +it accepts the client id/m);
    fixture.provider.refusesClient = true;
    const { code, stdout } = await user.run(['doctor', 'providers'], variables(providers));
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^fail +people +client +it refuses the client id or the client secret of this server \(OAUTH_WWW_AUTHENTICATE_CHALLENGE\) {2}\[invalid_client\]$/m,
    );
    expect(stdout).toMatch(/^pass +people +discovery/m);
  });

  it('reports missing refresh tokens in config check --online, and at the first login', async () => {
    fixture.provider.givesRefreshTokens = false;
    const providers = JSON.stringify([{ ...fixture.provider.entry, storeRefreshToken: undefined }]);
    const check = await user.run(['config', 'check', '--online', '--json'], variables(providers));
    expect(check.code).toBe(1);
    expect((JSON.parse(check.stdout) as Json)['findings']).toContainEqual({
      severity: 'error',
      code: 'provider-refresh-token',
      params: { provider: 'people' },
      message:
        'people: it lists no refresh tokens: people have to sign in there again after every interval.',
    });

    const server = await fixture.start({
      ...KEYLESS,
      ...{ AUTH_PROVIDERS_CONFIG_JSON: providers, METRICS_TOKEN },
      SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: 'people',
    });
    await fixture.keylessLogin(server);
    await fixture.keylessLogin(server);
    expect(await metricsOf(server)).toContain(`${failures('people', 'no_refresh_token')} 2\n`);
    await server.logged(/provider gave no refresh token/);
    expect(server.logs().match(/provider gave no refresh token/g)).toHaveLength(1);
  });
});
