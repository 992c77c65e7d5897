import { fileURLToPath } from 'node:url';
import type { ExecutionContext, Type } from '@nestjs/common';
import { ModulesContainer, Reflector } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyContextConfig } from 'fastify';
import { adminAccessOf } from './admin/access/admin-caller.js';
import { routeAccessOf } from './auth/route-access.js';
import type { ErrorCode } from '../common/errors.js';
import { ErrorDto, refusalResponses, refusalsOf } from './http/route-docs.js';
import { readVersion } from '../common/version.js';
import { addExamples, refusalExamples } from './http/api-examples.js';
import { ACCOUNT_TAGS, ADMIN_TAGS, BACKEND_TAGS } from './http/api-tags.js';
import { OAuthModule } from './oauth/oauth.module.js';
import { ProgramsModule } from './programs/programs.module.js';
import { EventStreamsModule } from './event-streams/event-streams.module.js';
import { PACKAGE_ROOT } from '../common/package-root.js';

/** Path of the page for people; the document itself lies below it. */
export const DOCUMENTATION_PATH = '/docs';

/** Codes of every route that authenticates its caller. */
const AUTHENTICATED: readonly ErrorCode[] = [
  'missing-token',
  'invalid-token',
  'token-expired',
  'token-revoked',
  'account-disabled',
  'unavailable',
];
/** The same of ADMIN_PORT. */
const ADMINISTERED: readonly ErrorCode[] = [
  'missing-token',
  'invalid-token',
  'token-expired',
  'origin-not-allowed',
  'unavailable',
];
const PROVIDER_REQUIRED: readonly ErrorCode[] = ['provider-required', 'not-eligible'];
/** A body is parsed wherever the method allows one, also where the route needs none. */
const BODY: readonly ErrorCode[] = [
  'invalid-request',
  'payload-too-large',
  'unsupported-media-type',
];

/** The OpenAPI document of every route of the server's port, from the routes themselves. */
export function buildApiDocument(app: NestFastifyApplication): OpenAPIObject {
  return buildDocument(app, {
    title: 'Gatehouse',
    description: `Sign-in and access for apps, command-line tools and backends.

**To authenticate**

1. Ask \`GET /v1/features\` which sign-ins this server allows.
2. Get a challenge from \`POST /v1/auth/challenge\`, sign it with the device key, and send it to \`POST /v1/auth\`. Or sign in through a provider or with a certificate.
3. Send the \`token\` of the answer with each route that has a lock: \`Authorization: Bearer <token>\`.

A refusal has a \`code\` for programs and a \`message\` for people. To try routes on this page, press **Authorize** and paste a token.`,
    authentication:
      'The `token` of a login; `docs/connect-a-client.md` has a program that signs in. What you send from this page then acts on your account.',
    tags: ACCOUNT_TAGS,
    accessOf: accountAccess,
  });
}

const accountAccess: DocumentFacts['accessOf'] = (reflector, { handler, controller }) => {
  const access = routeAccessOf(reflector, [handler, controller]);
  return {
    isPublic: access === 'public',
    codes: [
      ...(access === 'public' ? [] : AUTHENTICATED),
      ...(access === 'eligible' ? PROVIDER_REQUIRED : []),
    ],
  };
};

/** The routes for backends alone, which a server has only where a resource server is configured. */
export function buildBackendsDocument(app: NestFastifyApplication): OpenAPIObject {
  return buildDocument(app, {
    title: 'Gatehouse for backends',
    description:
      'Tokens for other backends, available only where AUTH_RESOURCE_SERVERS_CONFIG_PATH or AUTH_RESOURCE_SERVERS_CONFIG_JSON configures one; the routes of programs only where it has `programs`, for the session of a person.',
    authentication:
      'The client of the resource server, by `client_secret_basic` or `private_key_jwt`: `docs/protect-a-backend.md` explains both. Streams of events take the access token that `POST /v1/oauth/token` returns, as `Authorization: Bearer <token>`.',
    modules: [OAuthModule, EventStreamsModule, ProgramsModule],
    tags: BACKEND_TAGS,
    accessOf: accountAccess,
  });
}

/** The same of ADMIN_PORT. */
export function buildAdminDocument(app: NestFastifyApplication): OpenAPIObject {
  return buildDocument(app, {
    title: 'Gatehouse administration',
    description: 'Accounts, their audit trail and the policy, for administrators: on ADMIN_PORT.',
    authentication:
      'A token of an administrator, as `Authorization: Bearer <token>`: its SHA-256 is an entry of the file in `ADMIN_TOKENS_FILE`. People sign in on the page of the console. `docs/administration.md` explains both.',
    tags: ADMIN_TAGS,
    accessOf: (reflector, { handler }) => {
      const access = adminAccessOf(reflector, handler);
      return {
        isPublic: access === 'public',
        codes: [
          ...(access === 'public' ? [] : ADMINISTERED),
          ...(access === 'operate' ? (['admin-role-required'] as const) : []),
        ],
      };
    },
  });
}

interface DocumentFacts {
  readonly title: string;
  readonly description: string;
  /** Where a caller gets its token. */
  readonly authentication: string;
  /** The groups of routes, in order, with their purpose. */
  readonly tags: Readonly<Record<string, string>>;
  /** Modules whose routes the document has. Default: all. */
  readonly modules?: readonly Type[];
  /** The access of a route, and its refusal codes. */
  readonly accessOf: (
    reflector: Reflector,
    route: Route,
  ) => {
    readonly isPublic: boolean;
    readonly codes: readonly ErrorCode[];
  };
}

function buildDocument(
  app: NestFastifyApplication,
  { title, description, authentication, tags, modules, accessOf }: DocumentFacts,
): OpenAPIObject {
  const facts = new DocumentBuilder()
    .setTitle(title)
    .setDescription(description)
    .setVersion(readVersion())
    .setLicense('MIT', 'https://spdx.org/licenses/MIT.html')
    .addBearerAuth({ type: 'http', description: authentication })
    .build();
  const document = SwaggerModule.createDocument(app, facts, {
    extraModels: [ErrorDto],
    operationIdFactory: operationIdOf,
    ...(modules !== undefined && { include: [...modules] }),
  });
  document.tags = Object.entries(tags).map(([name, purpose]) => ({ name, description: purpose }));
  const handlers = handlersById(app);
  const refused = new Set<ErrorCode>();
  for (const [method, operation] of Object.values(document.paths).flatMap((path) =>
    Object.entries(path as Record<string, Operation>),
  )) {
    const route = handlers.get(operation.operationId ?? '');
    if (route !== undefined) {
      const { isPublic, codes } = accessOf(app.get(Reflector), route);
      const all = new Set([...codes, ...refusals(method, operation, route)]);
      all.forEach((code) => refused.add(code));
      Object.assign(operation.responses, refusalResponses(all));
      operation.security = isPublic ? undefined : [{ bearer: [] }];
    }
  }
  addExamples(document);
  document.components = { ...document.components, examples: refusalExamples(refused) };
  return JSON.parse(JSON.stringify(document).replace(SCHEMA_NAME, '$1')) as OpenAPIObject;
}

/** Generators name methods after these: `Sessions_list`. */
function operationIdOf(controller: string, method: string): string {
  return `${controller.replace(/Controller$/, '')}_${method}`;
}

/** The end of our classes' names says nothing to a caller: `SessionDto` is a `Session`. */
const SCHEMA_NAME = /(?<=["/])([A-Z]\w+)Dto(?=")/g;

/** Serves the document at /docs (for people) and /docs/openapi.json; built at the first request. */
export function serveApiDocument(app: NestFastifyApplication): void {
  SwaggerModule.setup(DOCUMENTATION_PATH, app, () => buildApiDocument(app), {
    jsonDocumentUrl: `${DOCUMENTATION_PATH}/openapi.json`,
    yamlDocumentUrl: `${DOCUMENTATION_PATH}/openapi.yaml`,
    customSwaggerUiPath: DOCUMENTATION_FILES,
    customSiteTitle: 'Gatehouse API',
    customCss: DOCUMENTATION_STYLE,
    // Closed groups fit one screen, and the address opens one route. Each route shows its own schemas.
    swaggerOptions: {
      docExpansion: 'none',
      deepLinking: true,
      defaultModelsExpandDepth: 0,
      operationsSorter: 'alpha',
    },
  });
}

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

interface Route {
  readonly controller: ReturnType<ExecutionContext['getClass']>;
  readonly handler: ReturnType<ExecutionContext['getHandler']>;
}

/** The codes of an operation, in addition to those of its access. */
function refusals(method: string, operation: Operation, route: Route): readonly ErrorCode[] {
  const config = (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, route.handler) ??
    {}) as FastifyContextConfig;
  const takesQuery = (operation.parameters ?? []).some((one) => 'in' in one && one.in === 'query');
  return [
    ...refusalsOf(route.handler),
    ...(config.rateLimit === false ? [] : (['rate-limited'] as const)),
    ...(method === 'get' ? [] : BODY),
    ...(takesQuery ? (['invalid-request'] as const) : []),
  ];
}

/** The handlers of all controllers, by the id that the document gives their operation. */
function handlersById(app: NestFastifyApplication): ReadonlyMap<string, Route> {
  const controllers = [...app.get(ModulesContainer).values()].flatMap((module) => [
    ...module.controllers.values(),
  ]);
  return new Map(
    controllers.flatMap(({ metatype }) => {
      const controller = metatype as Route['controller'];
      const prototype = controller.prototype as Record<string, Route['handler']>;
      return Object.getOwnPropertyNames(prototype).map((name): [string, Route] => [
        operationIdOf(controller.name, name),
        { controller, handler: prototype[name] as Route['handler'] },
      ]);
    }),
  );
}

/**
 * Copied by the build from swagger-ui-dist: that package depends on one that reports installations
 * to a third party.
 */
const DOCUMENTATION_FILES = fileURLToPath(new URL('dist/bin/swagger-ui', PACKAGE_ROOT));

/**
 * Hides what has no content here: the logo of another product, and the column of links. On a phone, a text takes a line
 * below its heading.
 */
const DOCUMENTATION_STYLE = `
  .swagger-ui :is(.topbar .link, .response-col_links) { display: none }
  .swagger-ui .topbar { padding: 0 }
  .swagger-ui .info { margin: 1.5rem 0 }
  .swagger-ui .scheme-container { padding: 1rem 0 }
  .swagger-ui .opblock-tag { flex-wrap: wrap; column-gap: 10px }
  .swagger-ui .opblock-tag small { flex: 1 1 15rem; padding: 0 }
`;
