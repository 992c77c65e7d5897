import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';

const ONE_YEAR_SECONDS = 31_536_000;

export interface HostedFile {
  /** Below the path of the page. */
  readonly paths: readonly string[];
  readonly type: 'text/html' | 'text/css' | 'text/javascript' | 'application/manifest+json';
  readonly text: string;
  /** In addition to those of the type and of the cache. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Serves a page below `path`, to which the root redirects.
 * @param built the directory with the output of `vite build`
 */
export async function servePage(
  server: FastifyInstance,
  path: string,
  files: readonly HostedFile[],
  built: string,
): Promise<void> {
  files.forEach((file) => serveFile(server, path, file));
  // Relative, so that it works behind a proxy that strips a prefix.
  server.get('/', (_request, reply) => reply.redirect(`${path.slice(1)}/`));
  await serveAssets(server, join(built, 'assets'), `${path}/assets/`);
}

/** Browsers revalidate a file before they use a cached copy. */
function serveFile(server: FastifyInstance, base: string, file: HostedFile): void {
  const body = Buffer.from(file.text);
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const type = { 'content-type': `${file.type}; charset=utf-8` };
  const headers = { ...file.headers, ...type, etag, 'cache-control': 'no-cache' };
  for (const path of file.paths) {
    server.get(`${base}${path}`, (request, reply) => {
      const isKnown = request.headers['if-none-match'] === etag;
      return reply
        .code(isKnown ? 304 : 200)
        .headers(headers)
        .send(isKnown ? null : body);
    });
  }
}

/**
 * Returns the element with the base address of a page.
 * @param publicUrl its path is the base address of the page behind a proxy
 */
export function baseElement(path: string, publicUrl: string | null): string {
  const prefix = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  return `<base href="${prefix}${path}/" />`;
}

/**
 * The names of scripts and styles hold the hash of their content. A server without a page never
 * loads the package.
 * @param prefix of their addresses, with a slash at both ends
 */
async function serveAssets(server: FastifyInstance, root: string, prefix: string): Promise<void> {
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
