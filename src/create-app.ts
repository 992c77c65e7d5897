import type { IncomingMessage } from 'node:http';
import cors from '@fastify/cors';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { fastify, type FastifyInstance } from 'fastify';
import { DOCUMENTATION_PATH, serveApiDocument } from './api-document.js';
import { AppModule } from './app.module.js';
import {
  answerBytes,
  ErrorFilter,
  refusalAnswer,
  requestIdFrom,
  sendError,
  toAppError,
} from './common/error.filter.js';
import { AppError } from './common/errors.js';
import { JsonLogger } from './common/json-logger.js';
import { acceptJsonOnly, refuseHeadWhereGetChanges } from './common/request-rules.js';
import { RequestValidationPipe } from './common/request-validation.pipe.js';
import { securityHeaders } from './common/security-headers.js';
import { tracing } from './common/trace.js';
import { trustOf } from './common/network/trusted-proxies.js';
import type { Settings } from './config/settings.js';
import { UpdatesAdapter } from './updates/updates.adapter.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** false = the handler writes all headers of the answer itself. */
    readonly answerHeaders?: false;
  }
}

/** Push tokens travel in the path, percent-encoded. */
const MAX_PATH_PARAMETER_LENGTH = 8192;
const HEADERS_TIMEOUT_MS = 10_000;
/** Longer than the idle time-outs of common load balancers, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** How often Node looks for connections past their time-out. */
const CONNECTION_CHECK_MS = 5000;
/** Keep-alive connections beside the live ones. */
const SPARE_CONNECTIONS = 10_000;

/** Builds the application: everything but listening. The caller closes it, which drains it. */
export async function createApp(settings: Settings): Promise<NestFastifyApplication> {
  const server = await createHttpServer(settings);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(settings),
    new FastifyAdapter(server),
    { logger: new JsonLogger(settings.http.logLevel), bodyParser: false, abortOnError: false },
  );
  app.useGlobalPipes(new RequestValidationPipe());
  app.useGlobalFilters(new ErrorFilter());
  app.useWebSocketAdapter(app.get(UpdatesAdapter));
  if (settings.http.docsEnabled) {
    serveApiDocument(app);
  }
  return app;
}

/** The HTTP server: its limits, the headers of every answer and the rules for every body. */
async function createHttpServer({ http, updates }: Settings): Promise<FastifyInstance> {
  const server = fastify({
    bodyLimit: http.bodyLimitBytes,
    requestTimeout: http.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // Requests that arrive during shutdown are served.
    return503OnClosing: false,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
    },
    trustProxy: trustOf(http.trustedProxies),
    genReqId: (request: IncomingMessage) => requestIdFrom(request.headers['x-request-id']),
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER_LENGTH },
    frameworkErrors: (error, request, reply) => sendError(reply, toAppError(error), request.id),
    clientErrorHandler: (error, socket) => {
      if (socket.writable) {
        socket.end(rawRefusal(String(error.code)));
      }
    },
  });
  // This server is no proxy (RFC 9110, 9.3.6); without a listener Node cuts the connection.
  server.server.on('connect', (_request, socket) => {
    socket.on('error', () => undefined).end(rawRefusal(''));
  });
  server.server.maxConnections = updates.maxConnections + SPARE_CONNECTIONS;
  tracing()?.watch(server);
  addAnswerHeaders(server);
  await server.register(cors, {
    origin: http.corsOrigins.includes('*') ? '*' : [...http.corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // The library refuses an OPTIONS without a preflight in another shape than the contract's.
    strictPreflight: false,
    exposedHeaders: ['etag', 'retry-after', 'x-request-id'],
    maxAge: 600,
  });
  refuseHeadWhereGetChanges(server);
  acceptJsonOnly(server);
  return server;
}

function addAnswerHeaders(server: FastifyInstance): void {
  const { answers, documentation } = securityHeaders();
  server.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.answerHeaders === false) {
      done();
      return;
    }
    const isPage = request.url.startsWith(DOCUMENTATION_PATH);
    void reply.headers(isPage ? documentation : answers).header('x-request-id', request.id);
    done();
  });
}

/** Statuses for what Node could not read, by its error code; 400 for the rest. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** The answer to bytes that are not HTTP: there is no request to reply to. */
function rawRefusal(nodeCode: string): string {
  const status = STATUSES[nodeCode] ?? 400;
  return answerBytes(
    refusalAnswer(new AppError('invalid-request'), requestIdFrom(undefined), status),
  );
}
