import { readFileSync } from 'node:fs';
import { loginBody, makeDeviceKey } from '../../helpers/client.js';

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  /** One body for each form that the schema permits. The list is empty if the route has no body. */
  readonly bodies: readonly unknown[];
  readonly codes: readonly string[];
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
}

interface DocumentedOperation {
  readonly responses: Readonly<Record<string, { readonly description?: string }>>;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const DOCUMENT = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
) as ApiDocument;

/** Fields that must be valid before the other fields of their body are checked. */
const SOUND: Readonly<Record<string, unknown>> = { ...loginBody(makeDeviceKey()) };

/** Every operation of the OpenAPI document, so that a new route is tried as soon as it is listed. */
export const OPERATIONS: readonly Operation[] = Object.entries(DOCUMENT.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, responses }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
      codes: Object.entries(responses).flatMap(([status, { description = '' }]) =>
        Number(status) < 400
          ? []
          : [...description.matchAll(/`([\w-]+)`/g)].map(([, code]) => code ?? ''),
      ),
      bodies: Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => samplesOf(schema)),
    })),
);

function samplesOf(schema: Schema, name = ''): readonly unknown[] {
  const { $ref, oneOf, properties, items, type } = schema;
  if ($ref !== undefined) {
    const known = DOCUMENT.components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)];
    return samplesOf(known ?? {}, name);
  }
  if (oneOf !== undefined) {
    return oneOf.flatMap((one) => samplesOf(one, name));
  }
  if (items !== undefined) {
    return samplesOf(items, name).map((item) => [item]);
  }
  if (type === 'object' || properties !== undefined) {
    const fields = Object.entries(properties ?? {}).map(
      ([key, inner]) => [key, samplesOf(inner, key)] as const,
    );
    const forms = Math.max(1, ...fields.map(([, values]) => values.length));
    return Array.from({ length: forms }, (_, form) =>
      Object.fromEntries(fields.map(([key, values]) => [key, values[form % values.length]])),
    );
  }
  const byType: Readonly<Record<string, unknown>> = { string: 'x', number: 0, boolean: true };
  return [schema.enum?.[0] ?? SOUND[name] ?? (type === undefined ? { a: 1 } : byType[type])];
}

export const PATHS: readonly string[] = [...new Set(OPERATIONS.map(({ path }) => path))];
