import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Timers } from '../../../common/runtime/timers.js';
import type { Access } from '../access.js';
import { AccessRefused } from '../access-refused.js';
import type { AccessGate } from '../access-gate.js';
import { requiredScopes, type Requirement } from '../programs.js';
import {
  closeSocket,
  connectionOf,
  cut,
  disconnectAfterAnswer,
  isClosed,
  isWebSocket,
  onceClosed,
  type GuardedResponse,
} from './closing.js';
import {
  accessBy,
  bearerOf,
  setAccess,
  upgradeTokenOf,
  type GuardedRequest,
} from './credentials.js';
import { openAnswerTo } from './open-answers.js';

/** Middleware, in terms of Node.js: Express's own types fit. */
export type ExpressMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Answers refused requests and those of {@link openAnswerTo}; ends responses whose session ends.
 *
 * @throws TypeError for a requirement whose scope is none
 */
export function expressGuard(
  guard: AccessGate,
  timers: Timers,
  requirement: Requirement,
): ExpressMiddleware {
  requiredScopes(requirement);
  return (request, response, next) => {
    const open = openAnswerTo(guard, request);
    if (open !== null) {
      response.writeHead(open.status, open.headers).end(open.body && JSON.stringify(open.body));
      return;
    }
    admit(guard, request, response, timers, requirement).then(
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
 * access ends. A request that was admitted before has to fulfill this requirement, too.
 *
 * @throws AccessRefused
 */
export async function admit(
  guard: AccessGate,
  request: GuardedRequest,
  response: GuardedResponse,
  timers: Timers,
  requirement: Requirement,
): Promise<Access> {
  const isUpgrade = isWebSocket(request);
  const access = await permittedAccess(guard, request, requirement).catch((refusal: unknown) => {
    if (isUpgrade) {
      disconnectAfterAnswer(response);
    }
    throw refusal;
  });
  if (accessBy(guard, request) !== null) {
    return access;
  }
  setAccess(guard, request, access);
  const socket = isUpgrade ? connectionOf(request, response) : null;
  // A response may be open for hours, as a stream of events is.
  const release = guard.hold(access, (reason) =>
    socket === null ? cut(request, response) : closeSocket(socket, request, reason, timers),
  );
  onceClosed(request, response, release);
  if (isClosed(request, response)) {
    release();
  }
  return access;
}

async function permittedAccess(
  guard: AccessGate,
  request: GuardedRequest,
  requirement: Requirement,
): Promise<Access> {
  const known = accessBy(guard, request);
  if (known === null) {
    const tokenOf = isWebSocket(request) ? upgradeTokenOf : bearerOf;
    return guard.verify(tokenOf(guard, request), requirement);
  }
  guard.requirePermission(known, requirement);
  return known;
}

export function answerRefusal(refusal: AccessRefused, response: ServerResponse): void {
  const headers = { ...refusal.headers, 'content-type': 'application/json' };
  response.writeHead(refusal.status, headers).end(JSON.stringify(refusal.body));
}
