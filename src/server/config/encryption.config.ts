import { namespaceOf, variablesOf, type Checked, type ValuesOf } from './environment/variable.js';

const encryption = variablesOf('Encryption');
const answers = variablesOf('Requests and answers');

export const ENCRYPTION_VARIABLES = {
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: encryption(
    {
      type: 'enum',
      default: 'required_e2ee',
      values: ['required_e2ee', 'optional', 'plaintext_only'],
    },
    'Defines if content must be, may be or must not be end-to-end encrypted. Older clients fail on plaintext_only.',
  ),
  SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE: encryption(
    { type: 'enum', default: 'e2ee', values: ['e2ee', 'plain'] },
    'Mode of new keyed accounts when the storage policy is optional.',
  ),
  SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT: encryption.offByDefault(
    'Lets users switch an account between e2ee and plain when the storage policy is optional.',
  ),
  SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_SETTINGS_AT_REST: encryption(
    { type: 'enum', default: 'server_sealed', values: ['server_sealed', 'none'] },
    'Form in which the database stores the settings of plain accounts.',
  ),
  SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_CREDENTIALS_AT_REST: encryption(
    { type: 'enum', default: 'server_sealed', values: ['server_sealed', 'none'] },
    'Form in which the database stores the connected-service credentials of plain accounts.',
  ),
};

export const ANSWERS_VARIABLES = {
  SERVICE_FEATURE_ANSWERS__ENABLED: answers(
    {
      type: 'boolean',
      default: null,
      defaultDoc: 'on where accounts can have keys',
    },
    'Lets people answer requests of their programs, such as coding agents, from another device. Off = /v1/requests does not exist.',
  ),
};

export const encryptionConfig = namespaceOf(
  'encryption',
  ({ values }: { readonly values: ValuesOf<typeof ENCRYPTION_VARIABLES> }) => ({
    storagePolicy: values.SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY,
    defaultAccountMode: values.SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE,
    allowAccountOptOut: values.SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT,
    plainAccountSettingsAtRest: values.SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_SETTINGS_AT_REST,
    plainAccountCredentialsAtRest:
      values.SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_CREDENTIALS_AT_REST,
  }),
);

export type EncryptionSettings = ReturnType<typeof encryptionConfig>;

export const answersConfig = namespaceOf(
  'answers',
  ({ values }: Checked<typeof ANSWERS_VARIABLES>) => ({
    /** null = on where accounts can have keys. */
    enabled: values.SERVICE_FEATURE_ANSWERS__ENABLED,
  }),
);

export type AnswersSettings = ReturnType<typeof answersConfig>;
