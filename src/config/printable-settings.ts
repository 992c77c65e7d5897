import type { ProviderSettings } from './providers.config.js';
import type { Settings } from './settings.js';

const HIDDEN = '(set)';

/** The settings without secrets, for printing: every secret is `(set)` or null, shapes are kept. */
export function printableSettings(settings: Settings): Settings {
  const { storage } = settings;
  return {
    ...settings,
    storage: {
      ...storage,
      databaseUrl: withoutCredentials(storage.databaseUrl),
      redisUrl: withoutCredentials(storage.redisUrl),
      masterSecret: hidden(storage.masterSecret),
      masterSecretsPrevious: storage.masterSecretsPrevious.map(() => HIDDEN),
    },
    metrics: { ...settings.metrics, token: hidden(settings.metrics.token) },
    providers: settings.providers.map(withoutSecrets),
  };
}

function withoutSecrets(provider: ProviderSettings): ProviderSettings {
  if (provider.type === 'oidc') {
    return { ...provider, clientSecret: HIDDEN };
  }
  const app = provider.app === null ? null : { ...provider.app, privateKey: HIDDEN };
  const webhookSecret = hidden(provider.webhookSecret);
  return { ...provider, clientSecret: HIDDEN, webhookSecret, app };
}

function hidden(secret: string | null): string | null {
  return secret === null ? null : HIDDEN;
}

/** The query goes too: drivers take a password there as well. */
function withoutCredentials(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) {
    return address === null ? null : HIDDEN;
  }
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}
