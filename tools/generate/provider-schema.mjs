import { toJsonSchema } from '@valibot/to-json-schema';
import { POLICY_TEST_ENTRY } from '../../dist/cli/operator/policy-test-entry.js';
import { PROVIDER_ENTRY } from '../../dist/config/providers-file/provider-entry.js';

/** What JSON Schema cannot say; the server checks it. */
const IGNORED = ['check', 'raw_check', 'transform'];

/** The text of config/providers.schema.json. */
export function providersSchema() {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'OpenID Connect providers',
    type: 'array',
    items: {
      ...providerEntrySchema(),
      oneOf: ['clientSecret', 'clientSecretFile', 'clientKeyFile', 'clientAssertionFile'].map(
        (name) => ({ required: [name] }),
      ),
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** The text of config/policy-test.schema.json. */
export function policyTestSchema() {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'People and what the policy does with them (gatehouse policy test)',
    type: 'array',
    minItems: 1,
    items: documented(POLICY_TEST_ENTRY),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** One entry of the providers file, descriptions in plain text, for a caller to add where the client secret is. */
export function providerEntrySchema() {
  return JSON.parse(JSON.stringify(documentedEntry()).replaceAll('`', ''));
}

/** The same with descriptions in Markdown. */
export function documentedEntry() {
  return documented(PROVIDER_ENTRY);
}

function documented(schema) {
  const entry = toJsonSchema(schema, { ignoreActions: IGNORED });
  delete entry.$schema;
  return entry;
}
