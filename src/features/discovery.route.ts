import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FeatureBytes } from './features.service.js';

export const DISCOVERY_PATH = '/v1/features';

/**
 * Serves discovery ahead of every other hook: the bytes are ready, anyone may have them, and they
 * cost less to send than to refuse. Call it before the application adds its hooks.
 */
export function serveDiscovery(server: FastifyInstance, current: () => FeatureBytes): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (request.raw.url === DISCOVERY_PATH && request.raw.method === 'GET') {
      answer(request, reply, current());
    } else {
      done();
    }
  });
  server.get(DISCOVERY_PATH, (request, reply) => answer(request, reply, current()));
}

function answer(request: FastifyRequest, reply: FastifyReply, { body, etag }: FeatureBytes): void {
  const ifNoneMatch = request.headers['if-none-match'];
  void reply.headers({
    etag,
    'cache-control': 'no-cache',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    'x-request-id': request.id,
  });
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, etag)) {
    void reply.status(304).send();
    return;
  }
  void reply.type('application/json; charset=utf-8').send(body);
}

/** Weak comparison, as `If-None-Match` wants it (RFC 9110, 13.1.2). */
function matches(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch
    .split(',')
    .map((candidate) => candidate.trim().replace(/^W\//, ''))
    .some((candidate) => candidate === etag || candidate === '*');
}
