import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { AppError } from './errors.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a GET of this route changes state. */
    readonly changesState?: true;
    /** The one media type that this route accepts, its body as unparsed text; '' without a body. */
    readonly textBody?: string;
  }
}

export const FORM = 'application/x-www-form-urlencoded';
export const JSON_TYPE = 'application/json';

/**
 * Marks a GET route that changes state: it refuses HEAD, because link previews and scanners send
 * HEAD to addresses that only the browser itself may use (RFC 9110, 9.2.1).
 */
export const ChangesState = (): MethodDecorator => RouteConfig({ changesState: true });

/** Call it before the routes are added: Fastify serves HEAD wherever it serves GET. */
export function refuseHeadWhereGetChanges(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    if (route.method === 'HEAD' && route.config?.changesState === true) {
      route.onRequest = (_request, _reply, done): void => done(new AppError('not-found'));
    }
  });
}

/** Parses JSON bodies only, except on routes with a `textBody`. */
export function acceptJsonOnly(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error');
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(FORM, { parseAs: 'string' }, (request, body, done) => {
    const isAccepted = request.routeOptions.config.textBody === FORM;
    done(isAccepted ? null : new AppError('unsupported-media-type'), body);
  });
  server.addContentTypeParser(JSON_TYPE, { parseAs: 'string' }, (request, body, done) => {
    const { textBody } = request.routeOptions.config;
    if (textBody !== undefined) {
      const isAccepted = textBody === JSON_TYPE;
      done(isAccepted ? null : new AppError('unsupported-media-type'), body);
    } else if (body === '') {
      // Clients send the content type even without a body.
      done(null, {});
    } else {
      void parse(request, body as string, done);
    }
  });
  server.addHook('onRoute', (route) => {
    if (route.config?.textBody !== undefined) {
      // Fastify runs no parser for a request that has neither a body nor a type.
      route.preValidation = (request, _reply, done): void => {
        request.body ??= '';
        done();
      };
    }
  });
}
