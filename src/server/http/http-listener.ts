import type { Server as HttpsServer, ServerOptions } from 'node:https';
import { Server as TlsServer } from 'node:tls';
import {
  fastify,
  type FastifyError,
  type FastifyHttpsOptions,
  type FastifyInstance,
  type FastifyServerOptions,
} from 'fastify';
import { AppError, invalidRequest } from '../../common/errors.js';
import { endConnection, releaseEndedConnections } from '../network/ended-connections.js';
import { boundHandshakes, HANDSHAKE_TIMEOUT_MS } from '../network/pending-handshakes.js';
import { readForwardedAddresses, trustOf } from '../network/trusted-proxies.js';
import {
  answerBytes,
  refusalAnswer,
  requestIdFrom,
  sendError,
  toAppError,
} from './error.filter.js';
import { BODY_LIMIT_BYTES } from './request-rules.js';
import { boundUnreadAnswers } from './unread-answers.js';

const HEADERS_TIMEOUT_MS = 10_000;
/** Without progress, for example of a client that does not read its answer. */
const CONNECTION_TIMEOUT_MS = 120_000;
/** Interval at which Node closes connections past their time-out. */
const CONNECTION_CHECK_MS = 5000;

interface ListenerOptions {
  /** null = plain HTTP. */
  readonly tls: ServerOptions | null;
  readonly requestTimeoutMs: number;
  /** Addresses and CIDR ranges of the proxies whose X-Forwarded-For counts. */
  readonly trustedProxies: readonly string[];
}

/** Makes the server of a port, with the limits that all have. @param more of the port alone */
export function createListener(
  { tls, requestTimeoutMs, trustedProxies }: ListenerOptions,
  more: FastifyServerOptions = {},
): FastifyInstance {
  const isTrusted = trustOf(trustedProxies);
  const common: FastifyServerOptions = {
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: Math.max(CONNECTION_TIMEOUT_MS, requestTimeoutMs),
    trustProxy: isTrusted,
    genReqId: ({ headers }) => requestIdFrom(headers['x-request-id']),
    frameworkErrors: (error, { id }, reply) => sendError(reply, addressError(error), id),
    clientErrorHandler: ({ code }, socket) => endConnection(socket, rawRefusal(code)),
    ...more,
  };
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CONNECTION_CHECK_MS,
    // Node's own refusal has no body; requireOneHost refuses instead.
    requireHostHeader: false,
  };
  const https = { ...limits, ...tls, handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
  const server = (
    tls === null
      ? fastify({ ...common, http: limits })
      : fastify({ ...common, https } as FastifyHttpsOptions<HttpsServer>)
  ) as FastifyInstance;
  if (server.server instanceof TlsServer) {
    boundHandshakes(server.server);
  }
  answerRareRequests(server);
  // The size of all headers is bounded. Node before 26 drops those beyond a thousand, such as the address that a proxy adds.
  server.server.maxHeadersCount = 0;
  releaseEndedConnections(server.server);
  boundUnreadAnswers(server);
  readForwardedAddresses(server, isTrusted);
  return server;
}

/** Requests that Node itself would answer, and not in the shape of the contract. */
function answerRareRequests({ server }: FastifyInstance): void {
  // This server is no proxy (RFC 9110, 9.3.6); without a listener Node cuts the connection.
  server.on('connect', (_request, socket) => endConnection(socket, rawRefusal('')));
  // Node refuses an expectation that it does not know without a body; a server may ignore it (RFC 9110, 10.1.1).
  server.on('checkExpectation', (...exchange) => server.emit('request', ...exchange));
}

/** Fastify refuses an address that it cannot decode before it looks for a route. */
function addressError(error: FastifyError): AppError {
  return error.code === 'FST_ERR_BAD_URL'
    ? invalidRequest('', 'Percent-encode the address as UTF-8.')
    : toAppError(error);
}

type Headers = Readonly<Record<string, string>>;

/** Adds headers to every answer, next to the id of its request. */
export function addAnswerHeaders(
  server: FastifyInstance,
  headersOf: (url: string) => Headers,
): void {
  server.addHook('onRequest', (request, reply, done) => {
    void reply.headers(headersOf(request.url)).header('x-request-id', request.id);
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
