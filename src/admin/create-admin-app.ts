import type { IncomingMessage } from 'node:http';
import type { ServerOptions } from 'node:https';
import cookie from '@fastify/cookie';
import rateLimit from '@fastify/rate-limit';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { fastify, type FastifyInstance } from 'fastify';
import { addressGroup } from '../common/network/addresses.js';
import { ErrorFilter, requestIdFrom, sendError, toAppError } from '../common/error.filter.js';
import { AppError } from '../common/errors.js';
import { acceptJsonOnly, refuseHeadWhereGetChanges } from '../common/request-rules.js';
import { RequestValidationPipe } from '../common/request-validation.pipe.js';
import { securityHeaders } from '../common/security-headers.js';
import { serveAdminConsole, type AdminConsoleOptions } from './admin-console.js';
import { AdminApiModule, type Services } from './admin-api.module.js';

/** A proposed configuration is the largest body. */
const BODY_LIMIT_BYTES = 262_144;
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
const MINUTE_MS = 60_000;
const MAX_COUNTED_ADDRESSES = 10_000;

export interface AdminAppOptions {
  /** null = plain HTTP. */
  readonly tls: ServerOptions | null;
  readonly requestsPerMinute: number;
  /** null = the API alone. */
  readonly console: AdminConsoleOptions | null;
}

/** Builds the application of the administration API and its console: everything but listening. */
export async function createAdminApp(
  server: Services,
  options: AdminAppOptions,
): Promise<NestFastifyApplication> {
  const http = await createHttpServer(options);
  if (options.console !== null) {
    await serveAdminConsole(http, options.console);
  }
  const app = await NestFactory.create<NestFastifyApplication>(
    AdminApiModule.forRoot(server),
    new FastifyAdapter(http),
    { bodyParser: false, abortOnError: false },
  );
  app.useGlobalPipes(new RequestValidationPipe());
  app.useGlobalFilters(new ErrorFilter());
  return app;
}

/** No CORS: pages of other origins read nothing here. */
async function createHttpServer({
  tls,
  requestsPerMinute,
}: AdminAppOptions): Promise<FastifyInstance> {
  const common = {
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: (request: IncomingMessage) => requestIdFrom(request.headers['x-request-id']),
    frameworkErrors: (
      error: Error,
      request: { id: string },
      reply: Parameters<typeof sendError>[0],
    ) => sendError(reply, toAppError(error), request.id),
  };
  const limits = { headersTimeout: HEADERS_TIMEOUT_MS };
  const server = (
    tls === null
      ? fastify({ ...common, http: limits })
      : fastify({ ...common, https: { ...tls, ...limits } })
  ) as FastifyInstance;
  const { answers } = securityHeaders();
  server.addHook('onRequest', (request, reply, done) => {
    void reply
      .headers({ ...answers, 'cross-origin-resource-policy': 'same-origin' })
      .header('x-request-id', request.id);
    done();
  });
  await server.register(cookie);
  await server.register(rateLimit, {
    max: requestsPerMinute,
    timeWindow: MINUTE_MS,
    cache: MAX_COUNTED_ADDRESSES,
    keyGenerator: ({ ip }) => addressGroup(ip),
    errorResponseBuilder: (_request, { ttl }) =>
      new AppError('rate-limited', { retryAfterSeconds: Math.ceil(ttl / 1000) }),
  });
  refuseHeadWhereGetChanges(server);
  acceptJsonOnly(server);
  return server;
}
