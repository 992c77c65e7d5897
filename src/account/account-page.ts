import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accountPageHeaders } from '../common/security-headers.js';

/** The page for people; its parts lie below it. */
const ACCOUNT_PAGE_PATH = '/app';

/** What `vite build` left, as seen from this folder of dist and from the linked programs alike. */
const BUILT = join(import.meta.dirname, '../web');
const ONE_YEAR_SECONDS = 31_536_000;
const BASE = '<base href="/app/" />';

interface PageBytes {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
}

/**
 * Serves the account page, at the addresses it has and where browsers return to it from a provider
 * (contract, External providers). Its parts have the hash of what they hold in their name.
 *
 * @param publicUrl its path is where the page lies for who comes through a proxy
 */
export async function serveAccountPage(
  server: FastifyInstance,
  publicUrl: string | null,
): Promise<void> {
  const page = pageBytes(await readFile(join(BUILT, 'index.html'), 'utf8'), publicUrl);
  const answer = (request: FastifyRequest, reply: FastifyReply) => send(request, reply, page);
  for (const path of ['', '/', '/oauth/:provider']) {
    server.get(`${ACCOUNT_PAGE_PATH}${path}`, answer);
  }
  // Relative, so that it holds behind a proxy that takes a prefix off.
  server.get('/', (_request, reply) => reply.redirect(`${ACCOUNT_PAGE_PATH.slice(1)}/`));
  await server.register(fastifyStatic, {
    root: join(BUILT, 'assets'),
    prefix: `${ACCOUNT_PAGE_PATH}/assets/`,
    // Only what is there at the start is served, each with a route of its own.
    wildcard: false,
    index: false,
    preCompressed: true,
    decorateReply: false,
    immutable: true,
    maxAge: ONE_YEAR_SECONDS * 1000,
  });
}

function pageBytes(html: string, publicUrl: string | null): PageBytes {
  const prefix = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  const body = Buffer.from(html.replace(BASE, `<base href="${prefix}${ACCOUNT_PAGE_PATH}/" />`));
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const own = { etag, 'cache-control': 'no-cache', 'content-type': 'text/html; charset=utf-8' };
  return { body, etag, headers: { ...accountPageHeaders(), ...own } };
}

function send(request: FastifyRequest, reply: FastifyReply, page: PageBytes): FastifyReply {
  const isKnown = request.headers['if-none-match'] === page.etag;
  return reply
    .code(isKnown ? 304 : 200)
    .headers(page.headers)
    .send(isKnown ? null : page.body);
}
