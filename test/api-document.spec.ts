import { readFileSync } from 'node:fs';
import { apiDocumentFile } from '../tools/generate/api-document.mjs';

interface ApiDocument {
  readonly paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

describe('docs/openapi.json', () => {
  it('is up to date (else: npm run generate)', async () => {
    const { location, text } = await apiDocumentFile();
    expect(readFileSync(location, 'utf8')).toBe(text);
  });

  it('says of every operation what it is for, and names what stands in its path', async () => {
    const { paths } = JSON.parse((await apiDocumentFile()).text) as ApiDocument;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    expect(operations.length).toBeGreaterThan(35);
    for (const { path, method, operation } of operations) {
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect({ path, method, ...operation }).toMatchObject({
        summary: expect.stringMatching(/^[A-Z].+\.$/),
        tags: [expect.any(String)],
      });
      expect({ path, names: inPath.map(({ name }) => name).sort() }).toEqual({
        path,
        names: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(),
      });
    }
  });
});
