import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Timers } from '../../../common/runtime/timers.js';
import type { Access } from '../access.js';
import { AccessRefused } from '../access-refused.js';
import type { AccessGate } from '../access-gate.js';
import {
  closeSocket,
  cut,
  disconnectAfterAnswer,
  isClosed,
  isWebSocket,
  type GuardedResponse,
} from './closing.js';
import {
  accessBy,
  bearerOf,
  setAccess,
  upgradeTokenOf,
  type GuardedRequest,
} from './credentials.js';

/** Middleware, in terms of Node.js: Express's own types fit. */
export type ExpressMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** Answers refused requests and the metadata; ends responses whose session ends. */
export function expressGuard(guard: AccessGate, timers: Timers): ExpressMiddleware {
  return (request, response, next) => {
    if (isMetadataRequest(guard, request)) {
      answerMetadata(guard, response);
      return;
    }
    admit(guard, request, response, timers).then(
      () => next(),
      (error: unknown) => {
        if (error instanceof AccessRefused) {
          answerRefusal(error, response);
        } else {
          next(error);
        }
      },
    );
  };
}

/**
 * Admits a request, and ends its response, or the WebSocket that a framework makes of it, when the
 * access ends. @throws AccessRefused
 */
export async function admit(
  guard: AccessGate,
  request: GuardedRequest,
  response: GuardedResponse,
  timers: Timers,
): Promise<Access> {
  const known = accessBy(guard, request);
  if (known !== null) {
    return known;
  }
  const isUpgrade = isWebSocket(request);
  const access = await verify(guard, request, isUpgrade).catch((refusal: unknown) => {
    if (isUpgrade) {
      disconnectAfterAnswer(response);
    }
    throw refusal;
  });
  setAccess(guard, request, access);
  const { socket } = response;
  // A response may be open for hours, as a stream of events is.
  const release = guard.hold(access, (reason) =>
    isUpgrade && socket !== null ? closeSocket(socket, request, reason, timers) : cut(response),
  );
  response.once('close', release);
  if (isClosed(response)) {
    release();
  }
  return access;
}

async function verify(
  guard: AccessGate,
  request: GuardedRequest,
  isUpgrade: boolean,
): Promise<Access> {
  return guard.verify((isUpgrade ? upgradeTokenOf : bearerOf)(guard, request));
}

/** True for a request of the protected resource metadata (RFC 9728, 3), which needs no token. */
export function isMetadataRequest(guard: AccessGate, request: GuardedRequest): boolean {
  // Express cuts the path of a mounted router from `url`.
  const { originalUrl } = request as { readonly originalUrl?: string };
  const [path] = (originalUrl ?? request.url ?? '').split('?');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && path === new URL(guard.metadataUrl).pathname;
}

export const METADATA_HEADERS = {
  'content-type': 'application/json',
  // Clients in browsers read it, and it has no secret.
  'access-control-allow-origin': '*',
  'cache-control': 'public, max-age=3600',
};

function answerMetadata(guard: AccessGate, response: ServerResponse): void {
  response.writeHead(200, METADATA_HEADERS).end(JSON.stringify(guard.metadata));
}

export function answerRefusal(refusal: AccessRefused, response: ServerResponse): void {
  const headers = { ...refusal.headers, 'content-type': 'application/json' };
  response.writeHead(refusal.status, headers).end(JSON.stringify(refusal.body));
}
