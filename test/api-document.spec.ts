import { readFileSync } from 'node:fs';
import { apiDocumentFile } from '../src/api-document-file.js';

describe('docs/openapi.json', () => {
  it('is up to date (else: npm run generate)', async () => {
    const { location, text } = await apiDocumentFile();
    expect(readFileSync(location, 'utf8')).toBe(text);
  });
});
