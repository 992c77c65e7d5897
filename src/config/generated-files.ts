import { existsSync, readFileSync } from 'node:fs';
import { chartFiles } from './generate-chart.js';
import { configurationPage, environmentExample, withEnvironmentSection } from './generate-docs.js';
import { providersSchema } from './provider-schema.js';

export interface GeneratedFile {
  /** The same place from src and from dist. */
  readonly location: URL;
  readonly text: string;
}

const ROOT = new URL('../../', import.meta.url);

/** Every file of the repository that is made from the tables here, as it should be. */
export function generatedFiles(): GeneratedFile[] {
  const readme = new URL('README.md', ROOT);
  return [
    { location: new URL('config/env.example', ROOT), text: environmentExample() },
    { location: new URL('config/providers.schema.json', ROOT), text: providersSchema() },
    { location: new URL('docs/configuration.md', ROOT), text: configurationPage() },
    ...chartFiles(),
    ...(existsSync(readme)
      ? [{ location: readme, text: withEnvironmentSection(readFileSync(readme, 'utf8')) }]
      : []),
  ];
}
