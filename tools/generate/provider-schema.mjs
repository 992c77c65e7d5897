import { toJsonSchema } from '@valibot/to-json-schema';
import { POLICY_TEST_ENTRY } from '../../dist/apps/cli/operator/policy-test-entry.js';
import {
  CLIENT_METHODS,
  KEY_SOURCES,
  RESOURCE_SERVER_ENTRY,
} from '../../dist/server/config/resource-servers/resource-server-entry.js';
import { PROGRAM_CLIENT_ENTRY } from '../../dist/server/config/resource-servers/program-clients-file.js';
import { PROVIDER_ENTRY } from '../../dist/server/config/providers-file/provider-entry.js';

/** The server runs these checks, which have no JSON Schema equivalent. */
const IGNORED = ['check', 'raw_check', 'transform'];

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

export function resourceServersSchema() {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Resource servers: backends that accept tokens of this server',
    type: 'array',
    items: documentedResourceServer(),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

export function documentedResourceServer() {
  const entry = documented(RESOURCE_SERVER_ENTRY);
  const { client } = entry.properties;
  client.oneOf = CLIENT_METHODS.map((name) => ({ required: [name] }));
  client.properties.kubernetes.oneOf = KEY_SOURCES.map((name) => ({ required: [name] }));
  return entry;
}

export function documentedProgram() {
  return documented(PROGRAM_CLIENT_ENTRY);
}

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

/** Descriptions are plain text; the caller adds the client secret. */
export function providerEntrySchema() {
  return JSON.parse(JSON.stringify(documentedEntry()).replaceAll('`', ''));
}

/** Descriptions are plain text. An entry without `client` has a client secret of the chart. */
export function resourceServerEntrySchema() {
  const entry = JSON.parse(JSON.stringify(documentedResourceServer()).replaceAll('`', ''));
  return { ...entry, required: entry.required.filter((name) => name !== 'client') };
}

/** Descriptions are plain text. */
export function programEntrySchema() {
  return JSON.parse(JSON.stringify(documentedProgram()).replaceAll('`', ''));
}

export function documentedEntry() {
  return documented(PROVIDER_ENTRY);
}

function documented(schema) {
  const entry = toJsonSchema(schema, { ignoreActions: IGNORED });
  delete entry.$schema;
  return entry;
}
