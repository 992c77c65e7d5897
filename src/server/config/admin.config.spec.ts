import { ConfigurationError } from './environment/configuration-error.js';
import { resolveSettings } from './resolve-settings.js';

type Environment = Readonly<Record<string, string>>;

const ON = { ADMIN_PORT: '3100', ADMIN_TOKENS_FILE: '/etc/gatehouse/tokens.json' };
const TLS = { ADMIN_TLS_CERT_PATH: '/etc/tls.crt', ADMIN_TLS_KEY_PATH: '/etc/tls.key' };
const LOGIN = {
  ADMIN_PORT: '3100',
  ADMIN_LOGIN_PROVIDER: 'people',
  ADMIN_LOGIN_READ_GROUPS: 'auditors',
  ADMIN_PUBLIC_URL: 'https://admin.example.com',
  AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([
    {
      id: 'people',
      type: 'oidc',
      issuer: 'https://login.example.com',
      clientId: 'gatehouse',
      clientSecret: 'a-client-secret',
    },
  ]),
};

function problemsOf(environment: Environment): string[] {
  try {
    resolveSettings(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) {
      return error.problems.map(({ variable, message }) => `${variable} ${message}`);
    }
    throw error;
  }
}

describe('the variables of the administration API', () => {
  it.each<[string, Environment]>([
    ['nothing', {}],
    ['a file of tokens', ON],
    ['any free port', { ...ON, ADMIN_PORT: '0', METRICS_PORT: '0' }],
    ['client certificates', { ADMIN_PORT: '3100', ...TLS, ADMIN_TLS_CLIENT_CA_PATH: '/etc/ca' }],
    ['a login with a browser', LOGIN],
    [
      'a login with a browser of those who act',
      { ...LOGIN, ADMIN_LOGIN_READ_GROUPS: '', ADMIN_LOGIN_OPERATE_GROUPS: 'admins' },
    ],
    ['variables that are not used without the port', { ...LOGIN, ADMIN_PORT: '', PORT: '3100' }],
  ])('may be %s', (_what, environment) => {
    expect(problemsOf(environment)).toEqual([]);
  });

  it.each<[Environment, string[]]>([
    [{ ...ON, PORT: '3100' }, ['ADMIN_PORT must not be the same as PORT or METRICS_PORT.']],
    [{ ...ON, METRICS_PORT: '3100' }, ['ADMIN_PORT must not be the same as PORT or METRICS_PORT.']],
    [
      { ADMIN_PORT: '3100' },
      [
        'ADMIN_PORT admits no caller: set one of ADMIN_TOKENS_FILE, ADMIN_TLS_CLIENT_CA_PATH, ADMIN_LOGIN_PROVIDER.',
      ],
    ],
    [
      { ...ON, ADMIN_TLS_CERT_PATH: '/etc/tls.crt' },
      ['ADMIN_TLS_KEY_PATH is missing, but required with ADMIN_TLS_CERT_PATH.'],
    ],
    [
      { ...ON, ADMIN_TLS_KEY_PATH: '/etc/tls.key' },
      ['ADMIN_TLS_CERT_PATH is missing, but required with ADMIN_TLS_KEY_PATH.'],
    ],
    [
      { ...ON, ADMIN_TLS_CLIENT_CA_PATH: '/etc/ca' },
      ['ADMIN_TLS_CERT_PATH is missing: client certificates need TLS.'],
    ],
    [
      { ...LOGIN, ADMIN_LOGIN_PROVIDER: 'friends' },
      ['ADMIN_LOGIN_PROVIDER names friends, which is not configured.'],
    ],
    [
      { ...LOGIN, ADMIN_LOGIN_READ_GROUPS: '' },
      [
        'ADMIN_LOGIN_PROVIDER admits no administrator: set ADMIN_LOGIN_READ_GROUPS or ADMIN_LOGIN_OPERATE_GROUPS.',
      ],
    ],
    [
      { ...LOGIN, ADMIN_PUBLIC_URL: '' },
      ['ADMIN_PUBLIC_URL is missing: the provider returns browsers to it.'],
    ],
  ])('may not be %j', (environment, problems) => {
    expect(problemsOf(environment)).toEqual(problems);
  });

  it('has one problem for each variable that is wrong', () => {
    const problems = problemsOf({ ...LOGIN, ADMIN_PORT: 'x', ADMIN_PUBLIC_URL: 'x' });
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'ADMIN_PORT',
      'ADMIN_PUBLIC_URL',
    ]);
  });

  it.each<[string, Environment, boolean]>([
    ['every address without TLS', { ADMIN_HOST: '0.0.0.0' }, true],
    ['every IPv6 address without TLS', { ADMIN_HOST: '::' }, true],
    ['every address with TLS', { ADMIN_HOST: '0.0.0.0', ...TLS }, false],
    ['loopback', { ADMIN_HOST: '127.0.0.1' }, false],
    ['IPv6 loopback', { ADMIN_HOST: '::1' }, false],
    ['loopback by its name', { ADMIN_HOST: 'localhost' }, false],
  ])('warns of listening on %s only where the network sees it', (_where, environment, isWarned) => {
    const { warnings } = resolveSettings({ ...ON, ...environment });
    expect(warnings).toEqual(
      isWarned
        ? [
            `ADMIN_HOST is ${environment['ADMIN_HOST']} without ADMIN_TLS_CERT_PATH: tokens and personal data cross the network unencrypted. Set the certificate, or let only a proxy that ends TLS reach the port.`,
          ]
        : [],
    );
  });
});
