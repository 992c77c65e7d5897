import type { Timers } from '../../../common/runtime/timers.js';
import type { AccessGate } from '../access-gate.js';
import { scopesOf } from '../programs.js';
import { expressGuard, type ExpressMiddleware } from './express.js';
import { isAdmitted, type FastifyReplyPart, type FastifyRequestPart } from './fastify.js';

/** Middleware of Express and a hook of Fastify in one. */
export interface RouteGuard {
  (...parameters: Parameters<ExpressMiddleware>): void;
  (request: FastifyRequestPart, reply: FastifyReplyPart, done: (error?: Error) => void): void;
}

/** @throws TypeError for a text that is no list of scopes */
export function scopeGuard(guard: AccessGate, timers: Timers, scope: string): RouteGuard {
  // Callers in JavaScript may give nothing, which names no scope.
  scopesOf(scope);
  const requirement = { scope };
  const middleware = expressGuard(guard, timers, requirement);
  return (request: object, answer: object, next: (error?: never) => void) => {
    if (isFastify(answer)) {
      isAdmitted(guard, timers, requirement, request as FastifyRequestPart, answer).then(
        (admitted) => (admitted ? next() : undefined),
        next,
      );
    } else {
      middleware(...([request, answer, next] as unknown as Parameters<ExpressMiddleware>));
    }
  };
}

/** Express answers with a response of Node.js, which has no other one within. */
function isFastify(answer: object): answer is FastifyReplyPart {
  return 'raw' in answer;
}
