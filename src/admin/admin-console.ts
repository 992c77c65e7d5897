import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import {
  brandedPage,
  brandStyle,
  escapeText,
  imageSource,
  type Brand,
} from '../common/brand/branded-page.js';
import { fileBytes, sendFile, servePageAssets } from '../common/http/hosted-page.js';
import { adminConsoleHeaders } from '../common/http/security-headers.js';

const PATH = '/admin';

/** The output of `vite build`; relative to dist as to the linked programs. */
const BUILT = join(import.meta.dirname, '../web/admin');
const BASE = '<base href="/admin/" />';
const LOGIN = '<meta name="gatehouse-admin-login" content="" />';

export interface AdminConsoleOptions {
  /** The brand of the deployment, its logo as the origin of this page reaches it. */
  readonly brand: Brand;
  /** URL of ADMIN_PORT for browsers: its path is the base address behind a proxy. */
  readonly publicUrl: string | null;
  /** Name of the administrators' provider; null = they cannot log in through one. */
  readonly loginProvider: string | null;
}

/** Serves the console for administrators: its page contains no data and requires no credentials. */
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
  // Relative, so that it works behind a proxy that strips a prefix.
  server.get('/', (_request, reply) => reply.redirect(`${PATH.slice(1)}/`));
  await servePageAssets(server, join(BUILT, 'assets'), `${PATH}/assets/`);
}

function typeOf(kind: 'html' | 'css'): Record<string, string> {
  return { 'content-type': `text/${kind}; charset=utf-8` };
}
