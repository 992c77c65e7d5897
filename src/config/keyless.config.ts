import { registerAs } from '@nestjs/config';
import type { KeylessRules } from '../policy/operator-policy.js';
import { unresolved, type Checked, PROVIDER_LIST, type Variable } from './environment/variable.js';

/** Accounts without device keys. */
export const KEYLESS_VARIABLES = {
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: {
    group: 'Keyless accounts',
    type: 'boolean',
    default: false,
    doc: 'Allows accounts without device keys. Needs the storage policy optional or plaintext_only.',
  },
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED: {
    group: 'Keyless accounts',
    type: 'boolean',
    default: false,
    doc: 'Allows login to a keyless account through an identity provider.',
  },
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: {
    ...PROVIDER_LIST,
    group: 'Keyless accounts',
    doc: 'Identity providers allowed for keyless login. Empty = none.',
  },
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION: {
    group: 'Keyless accounts',
    type: 'boolean',
    default: false,
    doc: 'Creates a keyless account at the first keyless login.',
  },
} as const satisfies Record<string, Variable>;

export const keylessConfig = registerAs(
  'keyless',
  ({ values }: Checked = unresolved('keyless')): KeylessRules => ({
    accountsEnabled: values.SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED,
    oauth: {
      enabled: values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED,
      providers: values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS,
      autoProvision: values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION,
    },
  }),
);
