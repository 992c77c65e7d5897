import type { ProviderSettings } from '../providers.config.js';

const HIDDEN = '(set)';

/** Providers without secrets, for printing: every secret is `(set)` or null, shapes are kept. */
export function printableProviders(providers: readonly ProviderSettings[]): ProviderSettings[] {
  return providers.map((provider) => {
    if (provider.type === 'oidc') {
      return { ...provider, clientSecret: provider.clientSecret && HIDDEN };
    }
    const app = provider.app && { ...provider.app, privateKey: HIDDEN };
    const webhookSecret = provider.webhookSecret && HIDDEN;
    return { ...provider, clientSecret: HIDDEN, webhookSecret, app };
  });
}
