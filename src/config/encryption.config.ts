import { registerAs } from '@nestjs/config';
import type { EncryptionRules } from '../policy/operator-policy.js';
import { unresolved, type Checked, type Variable } from './environment/variable.js';

/** How content is stored. */
export const ENCRYPTION_VARIABLES = {
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: {
    group: 'Encryption',
    type: 'enum',
    default: 'required_e2ee',
    values: ['required_e2ee', 'optional', 'plaintext_only'],
    doc: 'Whether content must be, may be or must not be end-to-end encrypted. Older clients fail on plaintext_only.',
  },
  SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE: {
    group: 'Encryption',
    type: 'enum',
    default: 'e2ee',
    values: ['e2ee', 'plain'],
    doc: 'Mode of new keyed accounts when the storage policy is optional.',
  },
  SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT: {
    group: 'Encryption',
    type: 'boolean',
    default: false,
    doc: 'Lets users switch an account between e2ee and plain when the storage policy is optional.',
  },
  SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_SETTINGS_AT_REST: {
    group: 'Encryption',
    type: 'enum',
    default: 'server_sealed',
    values: ['server_sealed', 'none'],
    doc: 'How the settings of plain accounts are kept in the database.',
  },
  SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_CREDENTIALS_AT_REST: {
    group: 'Encryption',
    type: 'enum',
    default: 'server_sealed',
    values: ['server_sealed', 'none'],
    doc: 'How the connected-service credentials of plain accounts are kept in the database.',
  },
} as const satisfies Record<string, Variable>;

export const encryptionConfig = registerAs(
  'encryption',
  ({ values }: Checked = unresolved('encryption')): EncryptionRules => ({
    storagePolicy: values.SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY,
    defaultAccountMode: values.SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE,
    allowAccountOptOut: values.SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT,
    plainAccountSettingsAtRest: values.SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_SETTINGS_AT_REST,
    plainAccountCredentialsAtRest:
      values.SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_CREDENTIALS_AT_REST,
  }),
);
