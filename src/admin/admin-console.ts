import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { fileBytes, sendFile, servePageAssets } from '../common/hosted-page.js';
import { adminConsoleHeaders } from '../common/security-headers.js';
import {
  brandedPage,
  brandStyle,
  escapeText,
  imageSource,
  type Brand,
} from '../policy/brand/branded-page.js';

const PATH = '/admin';

/** The output of `vite build`, as seen from this folder of dist and from the linked programs alike. */
const BUILT = join(import.meta.dirname, '../web/admin');
const BASE = '<base href="/admin/" />';
const LOGIN = '<meta name="gatehouse-admin-login" content="" />';

export interface AdminConsoleOptions {
  /** Of the deployment, its logo as the origin of this page reaches it. */
  readonly brand: Brand;
  /** Of ADMIN_PORT as browsers know it: its path is the base address behind a proxy. */
  readonly publicUrl: string | null;
  /** What the provider of administrators is called; null = they cannot log in through one. */
  readonly loginProvider: string | null;
}

/** Serves the console for administrators: its page holds no data, and needs no credentials. */
export async function serveAdminConsole(
  server: FastifyInstance,
  { brand, publicUrl, loginProvider }: AdminConsoleOptions,
): Promise<void> {
  const prefix = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  const login = LOGIN.replace('""', () => `"${escapeText(loginProvider ?? '')}"`);
  const html = brandedPage(await readFile(join(BUILT, 'index.html'), 'utf8'), brand)
    .replace(BASE, () => `<base href="${prefix}${PATH}/" />`)
    .replace(LOGIN, () => login);
  const headers = adminConsoleHeaders(imageSource(brand.logoUrl));
  const page = fileBytes(Buffer.from(html), { ...headers, ...typeOf('html') });
  for (const path of [PATH, `${PATH}/`]) {
    server.get(path, (request, reply) => sendFile(request, reply, page));
  }
  const style = fileBytes(Buffer.from(brandStyle(brand)), { ...headers, ...typeOf('css') });
  server.get(`${PATH}/brand.css`, (request, reply) => sendFile(request, reply, style));
  // Relative, so that it holds behind a proxy that strips a prefix.
  server.get('/', (_request, reply) => reply.redirect(`${PATH.slice(1)}/`));
  await servePageAssets(server, join(BUILT, 'assets'), `${PATH}/assets/`);
}

function typeOf(kind: 'html' | 'css'): Record<string, string> {
  return { 'content-type': `text/${kind}; charset=utf-8` };
}
