import type { IncomingMessage } from 'node:http';
import cors from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import { fastify, type FastifyInstance } from 'fastify';
import { DOCUMENTATION_PATH } from './api-document.js';
import { addressGroup } from './common/address-group.js';
import { sendError, toAppError } from './common/error.filter.js';
import { AppError } from './common/errors.js';
import { refuseHeadWhereGetChanges } from './common/head-requests.js';
import { answerBytes, refusalAnswer } from './common/refusal-answer.js';
import { requestIdFrom } from './common/request-id.js';
import { securityHeaders } from './common/security-headers.js';
import { trustOf } from './common/trusted-proxies.js';
import type { Settings } from './config/settings.js';
import type { RedisConnections } from './storage/redis-connections.js';
import { clusterRateStore } from './storage/cluster-rate-store.js';

/** Push tokens travel in the path, percent-encoded. */
const MAX_PATH_PARAMETER_LENGTH = 8192;
const HEADERS_TIMEOUT_MS = 10_000;
/** Longer than the idle time-outs of common load balancers, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** How often Node looks for connections that are over their time. */
const CONNECTION_CHECK_MS = 5000;
/** Keep-alive connections beside the live ones. */
const SPARE_CONNECTIONS = 10_000;
const RATE_WINDOW_MS = 60_000;
const MAX_COUNTED_ADDRESSES = 50_000;

/** The HTTP server with its bounds; what it serves is added later. */
export function createHttpServer({ http, updates }: Settings): FastifyInstance {
  const server = fastify({
    bodyLimit: http.bodyLimitBytes,
    requestTimeout: http.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // A request that has come this far is served, whatever else is closing.
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
  return server;
}

/** What every answer carries, and what every body must be. */
export async function addCommonHooks(server: FastifyInstance, { http }: Settings): Promise<void> {
  const { answers, documentation } = securityHeaders();
  server.addHook('onRequest', (request, reply, done) => {
    const isPage = request.url.startsWith(DOCUMENTATION_PATH);
    void reply.headers(isPage ? documentation : answers).header('x-request-id', request.id);
    done();
  });
  await server.register(cors, {
    origin: http.corsOrigins.includes('*') ? '*' : [...http.corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // An OPTIONS that is no preflight is answered like one: the library's refusal has another shape.
    strictPreflight: false,
    exposedHeaders: ['etag', 'retry-after', 'x-request-id'],
    maxAge: 600,
  });
  refuseHeadWhereGetChanges(server);
  acceptJsonOnly(server);
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The one media type whose body this route takes as it arrived, as text: '' when there is none.
     */
    readonly textBody?: string;
  }
}

const FORM = 'application/x-www-form-urlencoded';

function acceptJsonOnly(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error');
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(FORM, { parseAs: 'string' }, (request, body, done) => {
    const isWanted = request.routeOptions.config.textBody === FORM;
    done(isWanted ? null : new AppError('unsupported-media-type'), body);
  });
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const { textBody } = request.routeOptions.config;
    if (textBody !== undefined) {
      const isWanted = textBody === 'application/json';
      done(isWanted ? null : new AppError('unsupported-media-type'), body);
      return;
    }
    // Clients name the type even where they send nothing.
    if (body === '') {
      done(null, {});
      return;
    }
    void parse(request, body as string, done);
  });
  // No parser runs for a request that has neither a body nor a type.
  server.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.textBody !== undefined) {
      request.body ??= '';
    }
    done();
  });
}

/** Limits each address group, in memory or over all replicas; {@link RateLimits} counts the rest. */
export async function limitRates(
  server: FastifyInstance,
  { rateLimits }: Settings,
  redis: RedisConnections | null,
): Promise<void> {
  await server.register(rateLimit, {
    global: rateLimits.perIp > 0,
    max: rateLimits.perIp,
    timeWindow: RATE_WINDOW_MS,
    cache: MAX_COUNTED_ADDRESSES,
    keyGenerator: ({ ip }) => addressGroup(ip),
    ...(redis && { store: clusterRateStore(redis, MAX_COUNTED_ADDRESSES) }),
    errorResponseBuilder: (_request, { ttl }) =>
      new AppError('rate-limited', { retryAfterSeconds: Math.ceil(ttl / 1000) }),
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
