import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { AppError } from './errors.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a GET of this route stores or takes something. */
    readonly changesState?: true;
  }
}

/**
 * Marks a GET route that stores or takes something: HEAD is refused there, because link previews and
 * scanners send it to addresses that only the browser itself may use (RFC 9110, 9.2.1).
 */
export const ChangesState = (): MethodDecorator => RouteConfig({ changesState: true });

/** Call it before the routes are added: the framework serves HEAD wherever it serves GET. */
export function refuseHeadWhereGetChanges(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    if (route.method === 'HEAD' && route.config?.changesState === true) {
      route.onRequest = (_request, _reply, done): void => done(new AppError('not-found'));
    }
  });
}
