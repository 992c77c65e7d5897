import { generateKeyPairSync } from 'node:crypto';
import { printableSettings } from './printable-settings.js';
import { resolveSettings } from './resolve-settings.js';

const PEM = generateKeyPairSync('rsa', { modulusLength: 1024 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

describe('printableSettings', () => {
  it('shows no secret, and everything else', () => {
    const { settings } = resolveSettings({
      DATABASE_URL: 'postgres://ann:hunter2@db:5432/gate?password=hunter2',
      REDIS_URL: 'redis://:hunter2@cache:6379',
      SERVICE_MASTER_SECRET: 'hunter2-hunter2-hunter2-hunter2-hunter2',
      SERVICE_MASTER_SECRET_PREVIOUS: 'hunter2-hunter2-hunter2-hunter2-before',
      SERVICE_PUBLIC_URL: 'https://gate.acme.example',
      GITHUB_CLIENT_ID: 'client',
      GITHUB_CLIENT_SECRET: 'hunter2',
      AUTH_GITHUB_APP_ID: '1',
      AUTH_GITHUB_APP_PRIVATE_KEY: PEM,
      AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([
        {
          id: 'okta',
          type: 'oidc',
          issuer: 'https://acme.okta.com',
          clientId: 'gatehouse',
          clientSecret: 'hunter2',
        },
      ]),
    });
    const printed = printableSettings(settings);
    expect(JSON.stringify(printed)).not.toMatch(/hunter2|PRIVATE KEY/);
    expect(printed.storage).toEqual({
      ...settings.storage,
      databaseUrl: 'postgres://db:5432/gate',
      redisUrl: 'redis://cache:6379',
      masterSecret: '(set)',
      masterSecretsPrevious: ['(set)'],
    });
    expect(printed.providers.map(({ id, clientSecret }) => [id, clientSecret])).toEqual([
      ['github', '(set)'],
      ['okta', '(set)'],
    ]);
    expect(printed.auth).toEqual(settings.auth);
  });

  it('leaves what is not set as null', () => {
    const { settings } = resolveSettings({});
    expect(printableSettings(settings)).toEqual(settings);
  });
});
