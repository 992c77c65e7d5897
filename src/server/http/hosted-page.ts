import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const ONE_YEAR_SECONDS = 31_536_000;

/** Browsers revalidate a file before they use a cached copy. */
export interface FileBytes {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
}

/** @param headers in addition to those of the cache */
export function fileBytes(body: Buffer, headers: Readonly<Record<string, string>>): FileBytes {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  return { body, etag, headers: { ...headers, etag, 'cache-control': 'no-cache' } };
}

export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: FileBytes,
): FastifyReply {
  const isKnown = request.headers['if-none-match'] === file.etag;
  return reply
    .code(isKnown ? 304 : 200)
    .headers(file.headers)
    .send(isKnown ? null : file.body);
}

/**
 * The names of scripts and styles hold the hash of their content. A server without a page never
 * loads the package.
 * @param prefix of their addresses, with a slash at both ends
 */
export async function servePageAssets(
  server: FastifyInstance,
  root: string,
  prefix: string,
): Promise<void> {
  const { default: fastifyStatic } = await import('@fastify/static');
  const names = new Set(await readdir(root));
  // Not awaited: that would complete the routes before Nest sets its error handler.
  void server.register(fastifyStatic, {
    root,
    // Its own routes answer an encoded backslash or NUL with 500, or are two for each file, which a start waits for.
    serve: false,
    preCompressed: true,
    immutable: true,
    maxAge: ONE_YEAR_SECONDS * 1000,
  });
  server.get<{ Params: { name: string } }>(`${prefix}:name`, ({ params: { name } }, reply) =>
    names.has(name) ? reply.sendFile(name) : reply.callNotFound(),
  );
}
