import { generateKeyPairSync } from 'node:crypto';
import { resolveSettings } from '../resolve-settings.js';
import { printableProviders } from './provider-settings.js';

const PEM = generateKeyPairSync('rsa', { modulusLength: 1024 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

describe(printableProviders.name, () => {
  it('shows no secret, and everything else', () => {
    const { settings } = resolveSettings({
      SERVICE_PUBLIC_URL: 'https://gate.acme.example',
      GITHUB_CLIENT_ID: 'client',
      GITHUB_CLIENT_SECRET: 'hunter2',
      AUTH_GITHUB_APP_ID: '1',
      AUTH_GITHUB_APP_PRIVATE_KEY: PEM,
      AUTH_GITHUB_WEBHOOK_SECRET: 'hunter2-hunter2-hunter2',
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
    const printed = printableProviders(settings.providers);
    expect(JSON.stringify(printed)).not.toMatch(/hunter2|PRIVATE KEY/);
    const [github, okta] = settings.providers;
    expect(printed).toEqual([
      {
        ...github,
        clientSecret: '(set)',
        webhookSecret: '(set)',
        app: { id: '1', privateKey: '(set)', installationIdByOrg: {} },
      },
      { ...okta, clientSecret: '(set)' },
    ]);
  });

  it('shows unset fields as null', () => {
    const { settings } = resolveSettings({
      GITHUB_CLIENT_ID: 'client',
      GITHUB_CLIENT_SECRET: 'hunter2',
    });
    const [github] = printableProviders(settings.providers);
    expect(github).toMatchObject({ webhookSecret: null, app: null });
  });
});
