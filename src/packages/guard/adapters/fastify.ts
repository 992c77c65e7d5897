import type { Timers } from '../../../common/runtime/timers.js';
import { AccessRefused } from '../access-refused.js';
import type { AccessGate } from '../access-gate.js';
import type { GuardedResponse } from './closing.js';
import { setAccess, type GuardedRequest } from './credentials.js';
import { requiredScopes, type Requirement } from '../programs.js';
import { admit } from './express.js';
import { openAnswerTo } from './open-answers.js';

/** The part of Fastify's request that the guard uses. */
export interface FastifyRequestPart {
  readonly raw: GuardedRequest;
}

/** The part of Fastify's reply that the guard uses. */
export interface FastifyReplyPart {
  readonly raw: GuardedResponse;
  code(status: number): this;
  headers(values: Readonly<Record<string, string>>): this;
  send(body: unknown): this;
}

/** The part of a Fastify instance that the guard uses. */
export interface FastifyPart {
  addHook(
    name: 'onRequest',
    hook: (request: FastifyRequestPart, reply: FastifyReplyPart) => Promise<unknown>,
  ): unknown;
}

export type FastifyPlugin = (instance: FastifyPart) => Promise<void>;

/** Applies the hook to the scope that registers the plugin, as `fastify-plugin` does. */
const SKIP_OVERRIDE = Symbol.for('skip-override');

/** As {@link expressGuard}. */
export function fastifyGuard(
  guard: AccessGate,
  timers: Timers,
  requirement: Requirement,
): FastifyPlugin {
  requiredScopes(requirement);
  const plugin = (instance: FastifyPart): Promise<void> => {
    instance.addHook('onRequest', async (request, reply) =>
      (await isAdmitted(guard, timers, requirement, request, reply)) ? undefined : reply,
    );
    return Promise.resolve();
  };
  return Object.assign(plugin, { [SKIP_OVERRIDE]: true });
}

/** @returns false if the reply is sent already */
export async function isAdmitted(
  guard: AccessGate,
  timers: Timers,
  requirement: Requirement,
  request: FastifyRequestPart,
  reply: FastifyReplyPart,
): Promise<boolean> {
  const open = openAnswerTo(guard, request.raw);
  if (open !== null) {
    reply.code(open.status).headers(open.headers).send(open.body);
    return false;
  }
  try {
    setAccess(guard, request, await admit(guard, request.raw, reply.raw, timers, requirement));
    return true;
  } catch (error) {
    if (error instanceof AccessRefused) {
      reply.code(error.status).headers(error.headers).send(error.body);
      return false;
    }
    throw error;
  }
}
