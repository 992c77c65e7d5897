import { readFileSync } from 'node:fs';
import { apiDocumentFiles } from '../../tools/generate/api-document.mjs';

interface ApiDocument {
  readonly components: {
    readonly securitySchemes: { readonly bearer: { description?: string } };
    readonly examples: Record<string, { readonly value: { code: string; statusCode: number } }>;
    readonly schemas: Record<string, { readonly properties?: Record<string, Property> }>;
  };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
}

interface Property {
  readonly type?: string;
  readonly example?: unknown;
  readonly maxLength?: number;
}

interface Operation {
  readonly summary?: string;
  readonly tags: readonly string[];
  readonly responses: Record<string, { readonly content?: Record<string, Content> }>;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

interface Content {
  readonly examples?: Record<string, { readonly $ref: string }>;
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

  it('describes each group of operations', async () => {
    const { paths, tags } = JSON.parse((await file()).text) as ApiDocument;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const used = new Set(operations.flatMap((operation) => operation.tags));
    expect(tags.map(({ name }) => name).sort()).toEqual([...used].sort());
    expect(tags.filter(({ description }) => !/^[A-Z].+\.$/.test(description))).toEqual([]);
  });

  it('has an example of each refusal, with its status', async () => {
    const { paths, components } = JSON.parse((await file()).text) as ApiDocument;
    const wrong = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.entries(responses))
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, { content }]) => {
        const examples = Object.entries(content?.['application/json']?.examples ?? {});
        return (examples.length === 0 ? [['none', { $ref: '' }] as const] : examples).filter(
          ([code, { $ref }]) => {
            const { value } = components.examples[$ref.split('/').at(-1) ?? ''] ?? {};
            return value?.code !== code || String(value.statusCode) !== status;
          },
        );
      });
    expect(wrong).toEqual([]);
  });

  it('has an example of each time, and none that is too long', async () => {
    const { components } = JSON.parse((await file()).text) as ApiDocument;
    const properties = Object.values(components.schemas).flatMap(({ properties: all = {} }) =>
      Object.entries(all),
    );
    const times = properties.filter(([name, { type }]) => type === 'number' && /At$/.test(name));
    expect(times.length).toBeGreaterThan(0);
    expect(times.filter(([, { example }]) => typeof example !== 'number')).toEqual([]);
    const isTooLong = ({ example, maxLength = Infinity }: Property) =>
      typeof example === 'string' && example.length > maxLength;
    expect(properties.filter(([, property]) => isTooLong(property))).toEqual([]);
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

  it('documents the body of each GET that is answered 200', async () => {
    const { paths } = JSON.parse((await file()).text) as ApiDocument;
    const bare = Object.entries(paths).filter(([, { get }]) => {
      const success = get?.responses['200'];
      return success !== undefined && success.content === undefined;
    });
    expect(bare.map(([path]) => path)).toEqual([]);
  });
});
