import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { DISCOVERY_PATH } from './features/discovery.route.js';
import { readVersion } from './config/version.js';

/** Of the page for people; the document itself lies below it. */
export const DOCUMENTATION_PATH = '/docs';

/** The one route that the framework does not know. */
const discoveryOperation: OpenAPIObject['paths'][string] = {
  get: {
    tags: ['discovery'],
    summary: 'What this server offers right now: clients ask, they never guess.',
    responses: {
      200: {
        description: 'The discovery document.',
        headers: { etag: { schema: { type: 'string' } } },
        content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
      },
      304: { description: 'Unchanged since the `etag` in `if-none-match`.' },
    },
  },
};

/** The OpenAPI document of every route, from the routes themselves. */
export function buildApiDocument(app: NestFastifyApplication): OpenAPIObject {
  const description = new DocumentBuilder()
    .setTitle('Gatehouse')
    .setDescription('Authentication policy and push tokens for clients that run sessions.')
    .setVersion(readVersion())
    .setLicense('MIT', 'https://spdx.org/licenses/MIT.html')
    .addBearerAuth()
    .build();
  const document = SwaggerModule.createDocument(app, description);
  document.paths[DISCOVERY_PATH] = discoveryOperation;
  return document;
}

/** Serves the document at /docs (for people) and /docs/openapi.json; built at the first request. */
export function serveApiDocument(app: NestFastifyApplication): void {
  SwaggerModule.setup(DOCUMENTATION_PATH, app, () => buildApiDocument(app), {
    jsonDocumentUrl: `${DOCUMENTATION_PATH}/openapi.json`,
    yamlDocumentUrl: `${DOCUMENTATION_PATH}/openapi.yaml`,
  });
}
