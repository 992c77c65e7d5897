import { once } from 'node:events';
import { createServer } from 'node:https';
import { createServer as createSocketServer, type AddressInfo } from 'node:net';
import { certificateDirectory, selfSigned } from '../fakes/certificates.js';
import { startLocalServer } from '../fakes/local-server.js';
import { call, type Json } from '../helpers/client.js';
import { createCliUser, type CliUser } from '../helpers/cli.js';
import { IS_POSTGRES, type Server } from '../helpers/server.js';
import { freePort } from '../helpers/service-process.js';
import { begin, params } from './external-world.js';
import { waitFor } from '../helpers/wait.js';
import { KEYLESS, OffboardingWorld } from './offboarding-world.js';

const METRICS_TOKEN = 'a-metrics-token-of-the-spec';

/** Providers that fail, each in one way, by the cause that is to be reported. */
async function failingProviders() {
  const directory = certificateDirectory();
  const { cert, key } = selfSigned(directory.path, 'localhost', 'IP:127.0.0.1');
  const secure = createServer({ cert, key }).listen(0, '127.0.0.1');
  const silent = createSocketServer(() => undefined).listen(0, '127.0.0.1');
  await Promise.all([secure, silent].map((server) => once(server, 'listening')));
  const portOf = (server: typeof silent): number => (server.address() as AddressInfo).port;
  const wrong = await startLocalServer(() => ({ status: 404, json: {} }));
  const issuers = {
    dns_error: 'https://no-such-host.invalid',
    tls_error: `https://127.0.0.1:${portOf(secure)}`,
    connection_refused: `http://127.0.0.1:${await freePort()}`,
    timeout: `http://127.0.0.1:${portOf(silent)}`,
    bad_discovery: wrong.url,
  };
  return {
    issuers,
    close: async () => {
      secure.close();
      silent.close();
      directory.remove();
      await wrong.close();
    },
  };
}

const withServices = IS_POSTGRES ? describe : describe.skip;
withServices('a provider that fails (needs PostgreSQL and Redis)', () => {
  let world: OffboardingWorld;
  let user: CliUser;

  beforeEach(async () => {
    world = await OffboardingWorld.open();
    user = await createCliUser();
  });
  afterEach(async () => {
    await user.remove();
    await world.close();
  });

  const metricsOf = async (server: Server): Promise<string> =>
    (await call(server, 'GET', '/metrics', { token: METRICS_TOKEN })).text;
  const failures = (provider: string, cause: string): string =>
    `gatehouse_provider_failures_total{provider="${provider}",cause="${cause}"}`;
  const variables = (providers: string): Record<string, string> => ({
    AUTH_PROVIDERS_CONFIG_JSON: providers,
    SERVICE_PUBLIC_URL: 'http://127.0.0.1:1',
  });

  it('is reported by its cause in log, metrics and doctor, and never in an answer', async () => {
    const { issuers, close } = await failingProviders();
    const entries = Object.entries(issuers).map(([cause, issuer]) => ({
      ...world.provider.entry,
      ...{ id: cause, issuer, httpTimeoutSeconds: cause === 'timeout' ? 1 : 60 },
    }));
    const providers = JSON.stringify(entries);
    const server = await world.start({
      ...KEYLESS,
      ...{ AUTH_PROVIDERS_CONFIG_JSON: providers, METRICS_TOKEN },
      SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: Object.keys(issuers).join(),
    });
    const query = { mode: 'keyless', proofHash: 'a'.repeat(64) };
    for (const cause of Object.keys(issuers)) {
      expect(await metricsOf(server)).toContain(`${failures(cause, cause)} 0\n`);
      const answer = await params(server, cause, query);
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      const said = answer.text.replaceAll(cause, 'the-provider');
      expect(said).not.toMatch(/dns|tls|cert|refuse|ECONN|ENOT|discovery/i);
      expect(await metricsOf(server)).toContain(`${failures(cause, cause)} 1\n`);
      const linesOf = (text: string): string[] =>
        server
          .logs()
          .split('\n')
          .filter((line) => line.includes('provider failed') && line.includes(text));
      // The pipe of its log may be slower than its answer.
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
    "is the operator's matter where it refuses the client (strict %s)",
    async (strict) => {
      const env = { ...KEYLESS, METRICS_TOKEN, AUTH_OFFBOARDING_STRICT: strict };
      const server = await world.start(env);
      const person = await world.keylessLogin(server);
      world.provider.refusesClient = true;
      await world.makeDue(0);
      const refusals =
        'gatehouse_eligibility_checks_total{provider="people",outcome="invalid_client"} ';
      await world.until('counted', async () => (await metricsOf(server)).includes(refusals));
      expect(await metricsOf(server)).not.toContain('outcome="ineligible"');
      // From the last good check, as for an outage: it is not old yet.
      expect(await world.statusOf(server, person)).toBe(200);
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

      await world.makeDue(3600);
      const isRefused = async () => (await world.statusOf(server, person)) === 403;
      await world.until('checked again', async () => {
        const { rowCount } = await world.sql.query(
          `SELECT 1 FROM identity WHERE consecutive_failures >= 2`,
        );
        return rowCount === 1;
      });
      if (strict === 'true') {
        // Stored a moment before the server forgets what it knew of the person.
        await world.until('refused', isRefused);
      } else {
        expect(await isRefused()).toBe(false);
      }
      const profile = await call(server, 'GET', '/v1/account/profile', person);
      expect(profile.text).not.toContain('invalid_client');
      expect(profile.body['identities']).toMatchObject([{ eligibility: { reason: null } }]);

      const { url } = await begin(server, 'people', { mode: 'keyless' });
      const callback = world.provider.authorize(url, person.sub);
      const back = await fetch(`${server.url}${callback.pathname}${callback.search}`, {
        redirect: 'manual',
      });
      expect(back.headers.get('location')).toMatch(/[?&]error=upstream_error$/);

      world.provider.refusesClient = false;
      await world.makeDue();
      await world.until('served', async () => !(await isRefused()));
      await world.until('logged', () => server.logs().includes('provider answers again'));
    },
  );

  it('has a line in the doctor where it refuses the client, and passes where it does not', async () => {
    const providers = world.providers({ clientSecret: 'the secret of last year' });
    const good = await user.run(['doctor', 'providers'], variables(world.providers()));
    expect(good).toMatchObject({ code: 0, stderr: '' });
    expect(good.stdout).toMatch(/^pass +people +client +it accepts the client id/m);
    world.provider.refusesClient = true;
    const { code, stdout } = await user.run(['doctor', 'providers'], variables(providers));
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^fail +people +client +it refuses the client id or the client secret of this server \(OAUTH_WWW_AUTHENTICATE_CHALLENGE\) {2}\[invalid_client\]$/m,
    );
    expect(stdout).toMatch(/^pass +people +discovery/m);
  });

  it('is found without refresh tokens by config check --online, and at the first login', async () => {
    world.provider.givesRefreshTokens = false;
    const providers = JSON.stringify([{ ...world.provider.entry, storeRefreshToken: undefined }]);
    const check = await user.run(['config', 'check', '--online', '--json'], variables(providers));
    expect(check.code).toBe(1);
    expect((JSON.parse(check.stdout) as Json)['findings']).toContainEqual({
      severity: 'error',
      code: 'provider-refresh-token',
      message:
        'people: it lists no refresh tokens: people who leave are not found before their next login.',
    });

    const server = await world.start({
      ...KEYLESS,
      ...{ AUTH_PROVIDERS_CONFIG_JSON: providers, METRICS_TOKEN },
      SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: 'people',
    });
    await world.keylessLogin(server);
    await world.keylessLogin(server);
    expect(await metricsOf(server)).toContain(`${failures('people', 'no_refresh_token')} 2\n`);
    await server.logged(/provider gave no refresh token/);
    expect(server.logs().match(/provider gave no refresh token/g)).toHaveLength(1);
  });
});
