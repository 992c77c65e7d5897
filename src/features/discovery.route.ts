import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FeatureBytes } from './features.service.js';

export const DISCOVERY_PATH = '/v1/features';

/**
 * Serves discovery ahead of every other hook, and past the framework's own way of sending: the bytes
 * are ready, anyone may have them, and they cost less to send than to refuse. Call it before the
 * application adds its hooks.
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

function answer(request: FastifyRequest, reply: FastifyReply, features: FeatureBytes): void {
  const ifNoneMatch = request.headers['if-none-match'];
  const isKnown = ifNoneMatch !== undefined && matches(ifNoneMatch, features.etag);
  reply.hijack();
  // RFC 9110, 15.4.5 lets a 304 carry the length of what it stands for.
  reply.raw.writeHead(isKnown ? 304 : 200, [...features.headers, 'x-request-id', request.id]);
  reply.raw.end(isKnown ? undefined : features.body);
}

/** Weak comparison, as `If-None-Match` wants it (RFC 9110, 13.1.2). */
function matches(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch
    .split(',')
    .map((candidate) => candidate.trim().replace(/^W\//, ''))
    .some((candidate) => candidate === etag || candidate === '*');
}
