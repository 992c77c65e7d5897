import { readFileSync } from 'node:fs';
import { apiDocumentFiles } from '../../tools/generate/api-document.mjs';

interface ApiDocument {
  readonly components: { readonly securitySchemes: { readonly bearer: { description?: string } } };
  readonly paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

describe.each([
  ['docs/openapi.json', 35],
  ['docs/admin-openapi.json', 10],
  ['docs/backends-openapi.json', 3],
])('%s', (name, fewest) => {
  const file = async () => {
    const found = (await apiDocumentFiles()).find(({ location }) =>
      location.pathname.endsWith(name),
    );
    if (found === undefined) {
      throw new Error(`${name} is not generated`);
    }
    return found;
  };

  it('is up to date (else: npm run generate)', async () => {
    const { location, text } = await file();
    expect(readFileSync(location, 'utf8')).toBe(text);
  });

  it('says where a caller gets its token', async () => {
    const { components } = JSON.parse((await file()).text) as ApiDocument;
    expect(components.securitySchemes.bearer.description).toMatch(/`docs\/[a-z-]+\.md`/);
  });

  it('documents the purpose of every operation, and the parameters in its path', async () => {
    const { paths } = JSON.parse((await file()).text) as ApiDocument;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    expect(operations.length).toBeGreaterThan(fewest);
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
