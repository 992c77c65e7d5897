import { readFileSync } from 'node:fs';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';

const ROOT = new URL('../../', import.meta.url);

/** A comment that repeats the union of values below it. */
const ENUM_TAG = /^ *\/\*\* @enum \S+ \*\/\n/gm;

/**
 * Returns the types of the client kit, made from the documents of the API.
 *
 * @returns {Promise<import('./files.mjs').GeneratedFile[]>}
 */
export function apiTypesFiles() {
  return Promise.all([
    typesOf('docs/openapi.json', 'api-types.ts'),
    typesOf('docs/admin-openapi.json', 'admin-types.ts'),
  ]);
}

async function typesOf(document, name) {
  const api = JSON.parse(readFileSync(new URL(document, ROOT), 'utf8'), withoutExampleOfTime);
  const Routes = objectOf(
    Object.entries(api.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => [
        `${method.toUpperCase()} ${path}`,
        routeOf(operation),
      ]),
    ),
  );
  const schemas = { ...api.components.schemas, Routes };
  delete schemas.Error;
  delete schemas.ErrorDetail;
  // A caller may leave out a part of a query that has a default.
  const options = { defaultNonNullable: false };
  const types = await openapiTS({ ...api, paths: {}, components: { schemas } }, options);
  return {
    location: new URL(`src/packages/client/api/${name}`, ROOT),
    text: `${COMMENT_HEADER}${astToString(types)}`.replaceAll(ENUM_TAG, ''),
  };
}

/** A description with the unit needs no number as an example. */
function withoutExampleOfTime(_key, value) {
  const isTime = value?.type === 'number' && value.description?.includes('Unix milliseconds');
  return isTime ? { ...value, example: undefined } : value;
}

/** The parts of a route that its caller writes and reads. The kit has one type for all refusals. */
function routeOf({ summary, parameters = [], requestBody, responses }) {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const parts = {
    query: query.length > 0 && queryOf(query),
    body: requestBody?.content['application/json']?.schema,
    answer: responses[200]?.content?.['application/json']?.schema ?? {},
  };
  return {
    description: summary,
    ...objectOf(Object.entries(parts).filter(([, schema]) => schema)),
  };
}

function queryOf(parameters) {
  return {
    ...objectOf(
      parameters.map(({ name, description, schema }) => [name, { description, ...schema }]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

function objectOf(properties) {
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
  };
}
