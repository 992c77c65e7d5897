import {
  ConfigurationError,
  type ConfigurationProblem,
} from './environment/configuration-error.js';
import { resolveSettings } from './resolve-settings.js';

const SECRET = 'a-master-secret-of-32-bytes-or-more!';

function problemsOf(environment: Record<string, string>): readonly ConfigurationProblem[] {
  try {
    resolveSettings(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).problems;
  }
  return [];
}

describe('resolveSettings, with valid values', () => {
  it.each(['true', '1', 'yes', 'on', 'TRUE', 'Yes', ' on '])('reads %j as true', (text) => {
    const { settings } = resolveSettings({ AUTH_OFFBOARDING_STRICT: text });
    expect(settings.auth.offboarding.strict).toBe(true);
  });

  it.each(['false', '0', 'no', 'off', 'FALSE', 'No'])('reads %j as false', (text) => {
    const { settings } = resolveSettings({ AUTH_ANONYMOUS_SIGNUP_ENABLED: text });
    expect(settings.auth.anonymousSignupEnabled).toBe(false);
  });

  it('reads lists, with quotes around an item that contains a comma', () => {
    const { settings } = resolveSettings({
      AUTH_REQUIRED_LOGIN_PROVIDERS: ' Okta, ,acme,okta ',
      SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS: 'Acme CA,"CN=Root, O=Acme"',
      SERVICE_TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1,fd00::/8',
    });
    expect(settings.auth.requiredLoginProviders).toEqual(['okta', 'acme']);
    expect(settings.mtls.allowedIssuers).toEqual(['Acme CA', 'CN=Root, O=Acme']);
    expect(settings.http.trustedProxies).toEqual(['10.0.0.0/8', '127.0.0.1', 'fd00::/8']);
  });

  it('reads addresses without their trailing slash', () => {
    const { settings } = resolveSettings({
      SERVICE_PUBLIC_URL: 'https://gate.example.com/',
      SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: 'myapp://',
      SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES: 'myapp',
    });
    expect(settings.http.publicUrl).toBe('https://gate.example.com');
    expect(settings.oauthReturn.returnUrlBase).toBe('myapp://');
  });

  it.each([
    [{}, []],
    [{ SERVICE_PUBLIC_URL: 'https://gate.example:443/x/' }, ['https://gate.example']],
    [
      {
        SERVICE_PUBLIC_URL: 'https://gate.example',
        SERVICE_LOGIN_ORIGINS:
          'https://GATE.example:443, http://10.0.0.7:3000,https://gäte.example',
      },
      ['https://gate.example', 'http://10.0.0.7:3000', 'https://xn--gte-qla.example'],
    ],
  ])('lists the login origins for %j', (environment, origins) => {
    expect(resolveSettings(environment).settings.auth.loginOrigins).toEqual(origins);
  });

  it.each([
    [{}, ['*']],
    [{ SERVICE_PUBLIC_URL: 'https://gate.example' }, ['*']],
    [
      {
        SERVICE_CORS_ORIGINS: 'https://app.example:8443,capacitor://localhost,http://[::1]:8080',
        SERVICE_PUBLIC_URL: 'https://GATE.example:443/x/',
        SERVICE_LOGIN_ORIGINS: 'http://10.0.0.7:3000',
      },
      [
        ...['https://app.example:8443', 'capacitor://localhost', 'http://[::1]:8080'],
        ...['https://gate.example', 'http://10.0.0.7:3000'],
      ],
    ],
  ])('allows browsers of its own origins in addition to those listed in %j', (more, origins) => {
    expect(resolveSettings(more).settings.http.corsOrigins).toEqual(origins);
  });

  it.each([
    [{}, true, ['https://a.example', 'https://gate.example/x/app']],
    [{ SERVICE_ACCOUNT_PAGE_ENABLED: 'false' }, false, ['https://a.example']],
    [{ SERVICE_WEBAPP_URL: 'https://b.example' }, false, ['https://a.example']],
    [{ SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: 'https://b.example' }, false, ['https://a.example']],
  ])(
    'serves the account page with %j: %s, and derives the return of certificate logins',
    (more, isHosted, prefixes) => {
      const { settings } = resolveSettings({
        SERVICE_PUBLIC_URL: 'https://gate.example/x/',
        SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES: 'https://a.example',
        ...more,
      });
      expect(settings.http.accountPageEnabled).toBe(isHosted);
      expect(settings.mtls.returnToAllowPrefixes).toEqual(prefixes);
    },
  );

  it.each([
    ['10', 60],
    ['-5', 60],
    ['999999999', 86_400],
  ])('clamps an offboarding interval of %s to %i, with a warning', (text, seconds) => {
    const { settings, warnings } = resolveSettings({ AUTH_OFFBOARDING_INTERVAL_SECONDS: text });
    expect(settings.auth.offboarding.intervalSeconds).toBe(seconds);
    expect(warnings).toEqual([expect.stringContaining('AUTH_OFFBOARDING_INTERVAL_SECONDS')]);
  });

  it.each<[Record<string, string>, string, boolean]>([
    [{}, '127.0.0.1', false],
    [{ METRICS_TOKEN: 'sixteen-bytes-long' }, '0.0.0.0', false],
    [{ METRICS_TOKEN: 'sixteen-bytes-long', HOST: '10.0.0.1' }, '10.0.0.1', false],
    [{ HOST: '10.0.0.1' }, '127.0.0.1', false],
    [{ METRICS_HOST: '0.0.0.0' }, '0.0.0.0', true],
    [{ METRICS_HOST: '::' }, '::', true],
    [{ METRICS_HOST: '::1' }, '::1', false],
    [{ METRICS_HOST: 'localhost' }, 'localhost', false],
    [{ METRICS_HOST: '0.0.0.0', METRICS_PORT: '' }, '0.0.0.0', false],
    [{ METRICS_HOST: '0.0.0.0', METRICS_TOKEN: 'sixteen-bytes-long' }, '0.0.0.0', false],
  ])('listens for metrics with %j at %s, with a warning: %s', (more, host, isWarnedOf) => {
    const { settings, warnings } = resolveSettings({ METRICS_PORT: '9090', ...more });
    expect(settings.metrics.host).toBe(host);
    expect(warnings).toEqual(isWarnedOf ? [expect.stringContaining('METRICS_HOST')] : []);
  });

  it('accepts an external database with its master secrets', () => {
    const { settings } = resolveSettings({
      DATABASE_URL: 'postgres://u:p@db/gate',
      SERVICE_MASTER_SECRET: SECRET,
      SERVICE_MASTER_SECRET_PREVIOUS: `${SECRET}1,${SECRET}2`,
    });
    expect(settings.storage.masterSecret).toBe(SECRET);
    expect(settings.storage.masterSecretsPrevious).toEqual([`${SECRET}1`, `${SECRET}2`]);
  });
});

describe('resolveSettings, with invalid values', () => {
  it.each([
    ['AUTH_ANONYMOUS_SIGNUP_ENABLED', 'maybe'],
    ['AUTH_OFFBOARDING_ENABLED', '2'],
    ['PORT', '65536'],
    ['PORT', '3000.5'],
    ['PORT', '0x10'],
    ['AUTH_ACCESS_CACHE_SECONDS', '61'],
    ['AUTH_OFFBOARDING_INTERVAL_SECONDS', 'daily'],
    ['SERVICE_BODY_LIMIT_BYTES', '1'],
    ['SERVICE_LOG_LEVEL', 'loud'],
    ['SERVICE_MASTER_SECRET', ' '.repeat(40)],
    ['METRICS_TOKEN', '\t'.repeat(16)],
    ['SERVICE_DATA_DIR', ' '],
    ['GITHUB_CLIENT_ID', ' '],
    ['REDIS_SENTINEL_PASSWORD', ' '],
    ['SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY', 'plaintext'],
    ['SERVICE_UPDATES_TRANSPORTS', 'websocket,carrier-pigeon'],
    ['SERVICE_UPDATES_TRANSPORTS', ','],
    ['SERVICE_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['SERVICE_TRUSTED_PROXIES', '0.0.0.0/00'],
    ['SERVICE_TRUSTED_PROXIES', 'proxy.example.com'],
    ['SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES', '10.0.0.1/8/8'],
    ['SERVICE_CORS_ORIGINS', 'https://app.example.com/path'],
    ['SERVICE_CORS_ORIGINS', '*,https://app.example.com'],
    ['SERVICE_CORS_ORIGINS', 'https://App.example.com'],
    ['SERVICE_CORS_ORIGINS', 'https://app.example.com:443'],
    ['SERVICE_CORS_ORIGINS', 'http://app.example.com:80'],
    ['SERVICE_CORS_ORIGINS', 'https://gäte.example'],
    ['SERVICE_CORS_ORIGINS', 'https://*.example.com'],
    ['SERVICE_CORS_ORIGINS', 'https://app.example.com,https://*:8443'],
    ['SERVICE_CORS_ORIGINS', 'https://app.example.com:99999'],
    ['SERVICE_CORS_ORIGINS', 'wss://app.example.com'],
    ['SERVICE_CORS_ORIGINS', 'Capacitor://localhost'],
    ['SERVICE_PUBLIC_URL', 'gate.example.com'],
    ['SERVICE_PUBLIC_URL', 'ftp://gate.example.com'],
    ['SERVICE_PUBLIC_URL', 'https://u:p@gate.example.com'],
    ['SERVICE_PUBLIC_URL', 'https://gate.example.com/?a=b'],
    ['ADMIN_PUBLIC_URL', 'https://gate.example.com/#a'],
    ['SERVICE_FEATURE_AUTH_MTLS__PUBLIC_URL', 'https://u@gate.example.com'],
    ['GITHUB_REDIRECT_URL', 'https://gate.example.com/callback?a=b'],
    ['GITHUB_BASE_URL', 'https://u:p@git.example.com'],
    ['GITHUB_API_URL', 'https://git.example.com/#a'],
    ['SERVICE_LOGIN_ORIGINS', 'gate.example.com'],
    ['SERVICE_LOGIN_ORIGINS', 'ftp://gate.example.com'],
    ['SERVICE_LOGIN_ORIGINS', 'https://gate.example.com/path'],
    ['SERVICE_LOGIN_ORIGINS', 'https://gate.example.com:99999'],
    ['SERVICE_LOGIN_ORIGINS', 'https://*.example.com'],
    ['SERVICE_LOGIN_ORIGINS', 'https://gate.example.com\\x'],
    ['SERVICE_LOGIN_ORIGINS', `https://${'a'.repeat(63)}.${'b'.repeat(920)}`],
    ['DATABASE_URL', 'mysql://db/gate'],
    ['REDIS_URL', 'localhost:6379'],
    ['REDIS_URL', 'redis://:100%@redis:6379'],
    ['REDIS_URL', 'redis://redis:6379/abc'],
    ['REDIS_URL', 'redis://redis:6379/0/1'],
    ['REDIS_URL', 'redis://redis:6379?db=abc'],
    // A slash in the password: the host would be gate.
    ['REDIS_URL', 'redis://gate:12/34@redis:6379'],
    ['REDIS_CLUSTER_NODES', 'redis-1'],
    ['HOST', 'not a host'],
    ['SERVICE_MASTER_SECRET', 'too-short'],
    ['SERVICE_MASTER_SECRET_PREVIOUS', `${SECRET},too-short`],
    ['SERVICE_MASTER_SECRET_PREVIOUS', `"${SECRET}`],
    ['AUTH_GITHUB_ALLOWED_ORGS', ','],
    ['AUTH_GITHUB_ALLOWED_USERS', ' "" , '],
    ['AUTH_REQUIRED_LOGIN_PROVIDERS', ' '],
    ['SERVICE_TRUSTED_PROXIES', ' , ,'],
    ['SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS', ','],
    ['AUTH_SIGNUP_PROVIDERS', 'an okta'],
    ['AUTH_SIGNUP_PROVIDERS', 'mtls'],
    ['AUTH_REQUIRED_LOGIN_PROVIDERS', 'key_challenge'],
    ['AUTH_REQUIRED_LOGIN_PROVIDERS', 'mtls'],
    ['SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS', 'anonymous'],
    ['SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES', 'myapp,javascript'],
    ['SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES', 'myapp://'],
    ['SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS', 'CN=Root, O=Acme'],
    ['SERVICE_FEATURE_AUTH_MTLS__FORWARDED_EMAIL_HEADER', 'x email'],
    ['SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES', 'javascript://x'],
    ['SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES', '/login'],
    ['SERVICE_FEATURE_AUTH_MTLS__CRL_URLS', 'ldap://pki.example.com/list'],
    ['SERVICE_FEATURE_AUTH_MTLS__CRL_ALLOWED_HOSTS', 'http://pki.example.com'],
    ['SERVICE_PRESET', 'no-such-preset'],
    ['SERVICE_PRESET', '../presets/default'],
    ['AUTH_PROVIDERS_CONFIG_JSON', '{'],
    ['AUTH_GITHUB_APP_PRIVATE_KEY', 'no key'],
  ])('reports %s=%s once and by name', (name, text) => {
    const problems = name.startsWith('AUTH_GITHUB_APP')
      ? problemsOf({
          [name]: text,
          GITHUB_CLIENT_ID: 'id',
          GITHUB_CLIENT_SECRET: 'secret',
          SERVICE_PUBLIC_URL: 'https://gate.example.com',
        })
      : problemsOf({ [name]: text });
    expect(problems.map(({ variable }) => variable)).toEqual([name]);
    expect(problems[0]?.message).toMatch(/^(must|is|has) .+\.$|openssl rand/);
  });

  it('reports an origin that is none next to a public address that is none', () => {
    const names = ['SERVICE_PUBLIC_URL', 'SERVICE_LOGIN_ORIGINS'];
    const problems = problemsOf(Object.fromEntries(names.map((name) => [name, 'http://[::1'])));
    expect(problems.map(({ variable }) => variable)).toEqual(names);
  });

  it.each([
    ['SERVICE_WEBAPP_URL', 'http://app.example.com'],
    ['SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE', 'javascript:alert(1)'],
    ['SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE', 'myapp://oauth'],
  ])('%s=%s where logins through a provider return to it, and only there', (name, text) => {
    const provider = {
      GITHUB_CLIENT_ID: 'id',
      GITHUB_CLIENT_SECRET: 'secret',
      SERVICE_PUBLIC_URL: 'https://gate.example.com',
    };
    const problems = problemsOf({ ...provider, [name]: text });
    expect(problems.map(({ variable }) => variable)).toEqual([name]);
    expect(problems[0]?.message).toContain('is no safe address to return to');
    expect(problemsOf({ [name]: text })).toEqual([]);
  });

  it('reports an external database without a master secret', () => {
    expect(problemsOf({ DATABASE_URL: 'postgres://u:p@db/gate' })).toEqual([
      { variable: 'SERVICE_MASTER_SECRET', message: expect.stringContaining('is required') },
    ]);
  });

  it('reports a master secret that is too short once, not also as missing', () => {
    const problems = problemsOf({
      DATABASE_URL: 'postgres://u:p@db/gate',
      SERVICE_MASTER_SECRET: 'short',
    });
    expect(problems.map(({ variable }) => variable)).toEqual(['SERVICE_MASTER_SECRET']);
  });

  it.each([
    ['no address', {}, ['REDIS_URL']],
    ['Sentinels', { REDIS_SENTINELS: 'a:1', REDIS_URL: 'redis://a' }, ['REDIS_CLUSTER_NODES']],
    [
      'a password of Sentinels',
      { REDIS_SENTINEL_PASSWORD: 'x', REDIS_URL: 'redis://a' },
      ['REDIS_CLUSTER_NODES'],
    ],
    ['a database', { REDIS_URL: 'redis://:x@a/2' }, ['REDIS_URL']],
    ['a database in a query', { REDIS_URL: 'redis://a?db=2' }, ['REDIS_URL']],
    ['nothing that is wrong', { REDIS_URL: 'rediss://u:100%25@a/0' }, []],
  ])('reports a Redis Cluster with %s', (_, environment, names) => {
    const problems = problemsOf({ REDIS_CLUSTER_NODES: 'a:6379,[::1]:6380', ...environment });
    expect(problems.map(({ variable }) => variable)).toEqual(names);
  });

  it('reports an automatic redirect without a target', () => {
    const [problem] = problemsOf({ SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED: '1' });
    expect(problem?.variable).toBe('SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID');
  });

  it('reports direct certificates without port, certificate, key and authorities', () => {
    const problems = problemsOf({
      SERVICE_FEATURE_AUTH_MTLS__ENABLED: '1',
      SERVICE_FEATURE_AUTH_MTLS__MODE: 'direct',
    });
    expect(problems.map(({ variable }) => variable.split('__')[1])).toEqual([
      'TLS_PORT',
      'TLS_CERT_PATH',
      'TLS_KEY_PATH',
      'CA_PATH',
    ]);
  });

  it('reports the same port twice, and pass-through without authorities', () => {
    const mtls = { SERVICE_FEATURE_AUTH_MTLS__ENABLED: '1' };
    const direct = problemsOf({
      ...mtls,
      SERVICE_FEATURE_AUTH_MTLS__MODE: 'direct',
      SERVICE_FEATURE_AUTH_MTLS__TLS_PORT: '3000',
      SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH: 'c',
      SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH: 'k',
      SERVICE_FEATURE_AUTH_MTLS__CA_PATH: 'a',
    });
    const passThrough = problemsOf({
      ...mtls,
      SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET: 'aws-alb-passthrough',
    });
    expect([...direct, ...passThrough].map(({ variable }) => variable)).toEqual([
      'SERVICE_FEATURE_AUTH_MTLS__TLS_PORT',
      'SERVICE_FEATURE_AUTH_MTLS__CA_PATH',
    ]);
  });

  it.each(['subject_cn', 'fingerprint'])(
    'reports domains for an identity without one: %s',
    (source) => {
      const [problem, ...more] = problemsOf({
        SERVICE_FEATURE_AUTH_MTLS__ENABLED: '1',
        SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE: source,
        SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS: 'corp.example',
      });
      expect(problem).toEqual({
        variable: 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS',
        message: expect.stringContaining('SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE'),
      });
      expect(more).toEqual([]);
    },
  );

  it('reports a required certificate that no account could connect', () => {
    const required = {
      AUTH_REQUIRED_LOGIN_PROVIDERS: 'mtls',
      SERVICE_FEATURE_AUTH_MTLS__ENABLED: '1',
    };
    const [problem] = problemsOf(required);
    expect(problem).toEqual({
      variable: 'AUTH_REQUIRED_LOGIN_PROVIDERS',
      message: expect.stringContaining('SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES'),
    });
    const { settings } = resolveSettings({
      ...required,
      SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS: '1',
      SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES: '10.0.0.1',
    });
    expect(settings.auth.requiredLoginProviders).toEqual(['mtls']);
  });

  it.each([
    ['OCSP_ENABLED', '1', ['CA_PATH', 'CRL_ALLOWED_HOSTS', 'OCSP_ENABLED']],
    ['CRL_URLS', 'http://pki.example.com/a.crl', ['CRL_URLS', 'CA_PATH']],
    ['CRL_URLS', 'https://pki.example.com/a.crl', ['CRL_URLS']],
    ['CRL_ALLOWED_HOSTS', 'pki.example.com', ['CRL_ALLOWED_HOSTS']],
  ])('reports %s=%s of a proxy that forwards no certificate', (name, text, variables) => {
    const problems = problemsOf({
      SERVICE_FEATURE_AUTH_MTLS__ENABLED: '1',
      [`SERVICE_FEATURE_AUTH_MTLS__${name}`]: text,
    });
    expect(problems.map(({ variable }) => variable.split('__')[1])).toEqual(variables);
  });

  it('reports all problems at once, with their number', () => {
    const environment = { PORT: 'x', SERVICE_LOG_LEVEL: 'x', AUTH_SIGNUP_PROVIDER: 'okta' };
    expect(problemsOf(environment)).toHaveLength(3);
    expect(() => resolveSettings(environment)).toThrow(/3 problems:\n {2}PORT: must be/);
  });
});
