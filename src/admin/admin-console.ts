import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { fileBytes, sendFile, servePageAssets } from '../common/hosted-page.js';
import { adminConsoleHeaders } from '../common/security-headers.js';

const PATH = '/admin';

/** The output of `vite build`, as seen from this folder of dist and from the linked programs alike. */
const BUILT = join(import.meta.dirname, '../web/admin');
const BASE = '<base href="/admin/" />';
const LOGIN = '<meta name="gatehouse-admin-login" content="" />';

const NAME = '<meta name="application-name" content="Gatehouse" />';
const TITLE = '<title>Gatehouse</title>';

export interface AdminConsoleOptions {
  /** What the deployment is called. */
  readonly name: string;
  /** Of ADMIN_PORT as browsers know it: its path is the base address behind a proxy. */
  readonly publicUrl: string | null;
  /** What the provider of administrators is called; null = they cannot log in through one. */
  readonly loginProvider: string | null;
}

/** Serves the console for administrators: its page holds no data, and needs no credentials. */
export async function serveAdminConsole(
  server: FastifyInstance,
  { name, publicUrl, loginProvider }: AdminConsoleOptions,
): Promise<void> {
  const prefix = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  const filled = (meta: string, value: string): string =>
    meta.replace(/content="[^"]*"/, () => `content="${escapeText(value)}"`);
  const html = (await readFile(join(BUILT, 'index.html'), 'utf8'))
    .replace(BASE, () => `<base href="${prefix}${PATH}/" />`)
    .replace(TITLE, () => `<title>${escapeText(name)}</title>`)
    .replace(NAME, () => filled(NAME, name))
    .replace(LOGIN, () => filled(LOGIN, loginProvider ?? ''));
  const type = { 'content-type': 'text/html; charset=utf-8' };
  const page = fileBytes(Buffer.from(html), { ...adminConsoleHeaders(), ...type });
  for (const path of [PATH, `${PATH}/`]) {
    server.get(path, (request, reply) => sendFile(request, reply, page));
  }
  // Relative, so that it holds behind a proxy that strips a prefix.
  server.get('/', (_request, reply) => reply.redirect(`${PATH.slice(1)}/`));
  await servePageAssets(server, join(BUILT, 'assets'), `${PATH}/assets/`);
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
