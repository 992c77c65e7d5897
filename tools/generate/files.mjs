import { chartFiles } from './chart.mjs';
import { configurationPage, environmentExample } from './docs.mjs';
import { policyTestSchema, providersSchema } from './provider-schema.mjs';

/** @typedef {{ readonly location: URL, readonly text: string }} GeneratedFile */

const ROOT = new URL('../../', import.meta.url);

/**
 * Every file of the repository that is made from the configuration tables, as it should be.
 *
 * @returns {GeneratedFile[]}
 */
export function generatedFiles() {
  return [
    { location: new URL('config/env.example', ROOT), text: environmentExample() },
    { location: new URL('config/providers.schema.json', ROOT), text: providersSchema() },
    { location: new URL('config/policy-test.schema.json', ROOT), text: policyTestSchema() },
    { location: new URL('docs/configuration.md', ROOT), text: configurationPage() },
    ...chartFiles(),
  ];
}
