import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { apiTypesFiles } from '../../tools/generate/api-types.mjs';

const files = await apiTypesFiles();

it.each(files.map((file) => [basename(file.location.pathname), file] as const))(
  'keeps %s up to date (else: npm run generate)',
  (_name, { location, text }) => {
    expect(readFileSync(location, 'utf8')).toBe(text);
  },
);
