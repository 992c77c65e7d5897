import { readFileSync } from 'node:fs';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';

const ROOT = new URL('../../', import.meta.url);

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
  const api = JSON.parse(readFileSync(new URL(document, ROOT), 'utf8'));
  for (const operation of Object.values(api.paths).flatMap((path) => Object.values(path))) {
    operation.responses = Object.fromEntries(
      // The kit reads all refusals as GatehouseProblem.
      Object.entries(operation.responses).filter(([status]) => Number(status) < 400),
    );
  }
  return {
    location: new URL(`src/packages/client/api/${name}`, ROOT),
    text: `${COMMENT_HEADER}${astToString(await openapiTS(api))}`,
  };
}
