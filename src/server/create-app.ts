import { METHODS } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import cors from '@fastify/cors';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { DOCUMENTATION_PATH, serveApiDocument } from './api-document.js';
import { AppModule } from './app.module.js';
import { ErrorFilter } from './http/error.filter.js';
import { addAnswerHeaders, createListener } from './http/http-listener.js';
import { acceptsPrograms } from '../core/policy/programs/programs.js';
import { JsonLogger } from './logging/json-logger.js';
import { standardOutput } from './logging/standard-output.js';
import { terminalLines } from './logging/terminal-lines.js';
import { applyRequestRules, routedUrl } from './http/request-rules.js';
import { RequestValidationPipe } from './http/request-validation.pipe.js';
import { securityHeaders } from './http/security-headers.js';
import { tracing } from '../common/trace.js';
import type { Settings } from './config/settings.js';
import { ServedCertificatesService } from './providers/certificate/served-certificates.service.js';
import { loadTlsContext, tlsFileSet } from './config/tls/tls-files.js';
import { UpdatesAdapter } from './updates/updates.adapter.js';

/** Push tokens travel in the path, percent-encoded. */
const MAX_PATH_PARAMETER_LENGTH = 8192;
/** Longer than the idle time-outs of common load balancers, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Keep-alive connections in addition to the live ones. */
const SPARE_CONNECTIONS = 10_000;

/** Builds the application: everything but listening. The caller closes it, which drains it. */
export async function createApp(settings: Settings): Promise<NestFastifyApplication> {
  const tls = await loadTlsContext(tlsFileSet('SERVICE_TLS', settings.http.tls));
  const server = await createHttpServer(settings, tls);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(settings),
    new FastifyAdapter(server),
    { logger: loggerOf(settings.http.logLevel), bodyParser: false, abortOnError: false },
  );
  if (tls !== null) {
    await app
      .get(ServedCertificatesService, { strict: false })
      .keepCurrent('PORT', app.getHttpServer() as HttpsServer);
  }
  app.useGlobalPipes(new RequestValidationPipe());
  app.useGlobalFilters(new ErrorFilter());
  app.useWebSocketAdapter(app.get(UpdatesAdapter));
  if (settings.http.docsEnabled) {
    serveApiDocument(app);
  }
  return app;
}

/** JSON for programs that collect logs, and lines for people on a terminal. */
function loggerOf(level: string): JsonLogger {
  const { stdout } = process;
  return new JsonLogger(level, stdout.isTTY ? terminalLines(stdout) : standardOutput());
}

/** The HTTP server: its limits, the headers of every answer and the rules for every body. */
async function createHttpServer(
  settings: Settings,
  tls: SecureContextOptions | null,
): Promise<FastifyInstance> {
  const { http, updates } = settings;
  const { requestTimeoutMs, trustedProxies } = http;
  const server = createListener(
    { tls, requestTimeoutMs, trustedProxies },
    {
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Requests that arrive during shutdown are served.
      return503OnClosing: false,
      routerOptions: { maxParamLength: MAX_PATH_PARAMETER_LENGTH },
      rewriteUrl: routedUrl,
    },
  );
  server.server.maxConnections = updates.maxConnections + SPARE_CONNECTIONS;
  tracing()?.watch(server);
  const { answers, documentation } = securityHeaders();
  addAnswerHeaders(server, (url) => (url.startsWith(DOCUMENTATION_PATH) ? documentation : answers));
  await allowOrigins(server, settings);
  applyRequestRules(server);
  routeEveryMethod(server);
  return server;
}

async function allowOrigins(
  server: FastifyInstance,
  { http, resourceServers }: Settings,
): Promise<void> {
  await server.register(cors, {
    origin: http.corsOrigins.includes('*') ? '*' : [...http.corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // The library refuses an OPTIONS without a preflight in another shape than the contract's.
    strictPreflight: false,
    exposedHeaders: [
      'etag',
      'retry-after',
      'x-request-id',
      // Programs in a browser read the refusal of a scope there (RFC 6750, 3).
      ...(acceptsPrograms(resourceServers) ? ['www-authenticate'] : []),
    ],
    maxAge: 600,
  });
}

/** A proxy may ask about a request of any method. The framework routes some to no handler otherwise. */
function routeEveryMethod(server: FastifyInstance): void {
  for (const method of METHODS) {
    // Fastify demands a type from QUERY, which such a question does not have.
    const isRouted = server.supportedMethods.includes(method) && method !== 'QUERY';
    if (method !== 'CONNECT' && !isRouted) {
      server.addHttpMethod(method, { overrideExisting: true });
    }
  }
}
