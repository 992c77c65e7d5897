import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { generatedFiles } from '../../tools/generate/files.mjs';

describe('files made from the configuration tables', () => {
  it.each(generatedFiles().map((file) => [basename(file.location.pathname), file] as const))(
    'keeps %s up to date (else: npm run generate)',
    (_name, { location, text }) => {
      expect(existsSync(location)).toBe(true);
      expect(readFileSync(location, 'utf8')).toBe(text);
    },
  );
});
