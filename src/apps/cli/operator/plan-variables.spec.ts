import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../../../server/config/environment/configuration-error.js';
import { readPlanVariables, withChanges } from './plan-variables.js';

const directory = mkdtempSync(join(tmpdir(), 'gatehouse-plan-'));

function read(text: string): Readonly<Record<string, string | undefined>> {
  const path = join(directory, 'new.env');
  writeFileSync(path, text);
  return readPlanVariables(path);
}

function problemsOf(text: string): ConfigurationError['problems'] | null {
  try {
    read(text);
    return null;
  } catch (error) {
    return error instanceof ConfigurationError ? error.problems : [];
  }
}

describe(readPlanVariables, () => {
  it('reads assignments, comments and blank lines, and names without an effect on access', () => {
    const text = [
      ...['\uFEFF# a comment', '', '   ', '  # indented', 'PORT=3005', 'export HOST=127.0.0.1'],
      ...['AUTH_REQUIRED_LOGIN_PROVIDERS = "okta" # why', 'ADMIN_TOKENS_FILE=', 'https_proxy=x'],
      ...["AUTH_PROVIDERS_CONFIG_JSON='[", '  {"id": "okta"}', "]'", 'OTEL_SERVICE_NAME=gate'],
      ...['SERVICE_MASTER_SECRET_FILE=/run/secret', 'SERVICE_PUBLIC_URL=https://a.example/?b=c'],
    ];
    const variables = {
      ...{ PORT: '3005', HOST: '127.0.0.1', AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta' },
      ...{ ADMIN_TOKENS_FILE: '', https_proxy: 'x', OTEL_SERVICE_NAME: 'gate' },
      AUTH_PROVIDERS_CONFIG_JSON: '[\n  {"id": "okta"}\n]',
      SERVICE_MASTER_SECRET_FILE: '/run/secret',
      SERVICE_PUBLIC_URL: 'https://a.example/?b=c',
    };
    expect(read(text.join('\n'))).toEqual(variables);
    expect(read(text.join('\r\n'))).toEqual({ ...variables });
    expect(read('')).toEqual({});
  });

  it.each([
    ['AUTH_REQUIRED_LOGIN_PROVIDER', 'did you mean AUTH_REQUIRED_LOGIN_PROVIDERS?'],
    ['auth_required_login_providers', 'did you mean AUTH_REQUIRED_LOGIN_PROVIDERS?'],
    ['Port', 'did you mean PORT?'],
    ['NO_SUCH_NAME_AT_ALL', 'is not a variable of this server.'],
    ['NODE_ENV', 'is not a variable of this server.'],
    ['constructor', 'is not a variable of this server.'],
  ])('refuses the name %s', (name, message) => {
    expect(problemsOf(`PORT=1\n${name}=okta\n`)).toEqual([
      { variable: name, message: expect.stringContaining(message) },
    ]);
  });

  it.each([
    ['AUTH_REQUIRED_LOGIN_PROVIDERS okta', 'line 2'],
    ['AUTH_REQUIRED_LOGIN_PROVIDERS: okta', 'line 2'],
    ['AUTH_REQUIRED_LOGIN_PROVIDERS', 'line 2'],
    ['=okta', 'line 2'],
    ['AUTH-REQUIRED-LOGIN-PROVIDERS=okta', 'line 2'],
    ['set AUTH_REQUIRED_LOGIN_PROVIDERS=okta', 'line 2'],
    ['; a comment of another format', 'line 2'],
    ['AUTH_REQUIRED_LOGIN_PROVIDERS="okta', 'line 2'],
    ['AUTH_REQUIRED_LOGIN_PROVIDERS="okta" HOST=x', 'line 2'],
    ["AUTH_PROVIDERS_CONFIG_JSON='[\n]' AUTH_REQUIRED_LOGIN_PROVIDERS=okta", 'line 3'],
  ])('refuses the line %j', (line, variable) => {
    expect(problemsOf(`PORT=1\n${line}\nHOST=127.0.0.1\n`)).toContainEqual({
      variable,
      message: expect.any(String),
    });
  });

  it('reports every line, and no value of any', () => {
    const problems = problemsOf('SECRT=hidden\nhidden\nAUTH_REQUIRED_LOGIN_PROVIDER=hidden') ?? [];
    expect(problems).toHaveLength(3);
    expect(JSON.stringify(problems)).not.toContain('hidden');
  });
});

describe(withChanges, () => {
  const RULES_PATH = 'SERVICE_FEATURE_AUTH_MTLS__RULES_PATH';
  const ISSUERS = 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS';
  const DOMAINS = 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS';

  it('keeps the variables that do not change', () => {
    const present = { AUTH_PROVIDERS_CONFIG_PATH: '/etc/providers.json', [ISSUERS]: 'Corp' };
    expect(withChanges(present, {})).toEqual(present);
    const changes = { AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta', [ISSUERS]: '' };
    expect(withChanges(present, changes)).toEqual({ ...present, ...changes });
  });

  it.each([
    ['AUTH_PROVIDERS_CONFIG_PATH', { AUTH_PROVIDERS_CONFIG_JSON: '[]' }],
    ['AUTH_PROVIDERS_CONFIG_JSON_FILE', { AUTH_PROVIDERS_CONFIG_PATH: '/new.json' }],
    ['GITHUB_CLIENT_SECRET_FILE', { GITHUB_CLIENT_SECRET: 'new' }],
    ['GITHUB_CLIENT_SECRET', { GITHUB_CLIENT_SECRET_FILE: '/new' }],
    [ISSUERS, { [RULES_PATH]: '/new.json' }],
    [RULES_PATH, { [ISSUERS]: 'Corp', [DOMAINS]: '' }],
  ])('drops %s for what stands for it', (name, changes) => {
    expect(withChanges({ [name]: 'present', PORT: '1' }, changes)).toEqual({
      PORT: '1',
      ...changes,
    });
  });

  it('keeps the file of both lists of certificate rules if one list alone changes', () => {
    const changes = { [ISSUERS]: 'Corp' };
    const present = { [RULES_PATH]: '/rules.json' };
    expect(withChanges(present, changes)).toEqual({ ...present, ...changes });
  });
});
