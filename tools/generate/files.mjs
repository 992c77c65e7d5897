import { chartFiles } from './chart.mjs';
import { configurationPage, environmentExample } from './docs.mjs';
import { policyTestSchema, providersSchema, resourceServersSchema } from './provider-schema.mjs';

/** @typedef {{ readonly location: URL, readonly text: string }} GeneratedFile */

const ROOT = new URL('../../', import.meta.url);

/** @returns {GeneratedFile[]} */
export function generatedFiles() {
  return [
    { location: new URL('config/env.example', ROOT), text: environmentExample() },
    { location: new URL('config/providers.schema.json', ROOT), text: providersSchema() },
    {
      location: new URL('config/resource-servers.schema.json', ROOT),
      text: resourceServersSchema(),
    },
    { location: new URL('config/policy-test.schema.json', ROOT), text: policyTestSchema() },
    { location: new URL('docs/configuration.md', ROOT), text: configurationPage() },
    ...chartFiles(),
  ];
}
