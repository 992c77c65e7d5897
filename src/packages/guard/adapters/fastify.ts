import type { Timers } from '../../../common/runtime/timers.js';
import { AccessRefused } from '../access-refused.js';
import type { AccessGate } from '../access-gate.js';
import type { GuardedResponse } from './closing.js';
import { setAccess, type GuardedRequest } from './credentials.js';
import { admit, isMetadataRequest, METADATA_HEADERS } from './express.js';

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

/** Answers refused requests and the metadata; ends responses whose session ends. */
export function fastifyGuard(guard: AccessGate, timers: Timers): FastifyPlugin {
  const plugin = (instance: FastifyPart): Promise<void> => {
    instance.addHook('onRequest', async (request, reply) => {
      if (isMetadataRequest(guard, request.raw)) {
        return reply.code(200).headers(METADATA_HEADERS).send(guard.metadata);
      }
      try {
        setAccess(guard, request, await admit(guard, request.raw, reply.raw, timers));
        return undefined;
      } catch (error) {
        if (error instanceof AccessRefused) {
          return reply.code(error.status).headers(error.headers).send(error.body);
        }
        throw error;
      }
    });
    return Promise.resolve();
  };
  return Object.assign(plugin, { [SKIP_OVERRIDE]: true });
}
