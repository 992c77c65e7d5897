import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fileBytes, sendFile, servePageAssets, type FileBytes } from '../common/hosted-page.js';
import { accountPageHeaders, serviceWorkerHeaders } from '../common/security-headers.js';
import { brandConfig } from '../config/brand.config.js';
import { httpConfig } from '../config/http.config.js';
import { brandedPage, brandStyle, imageSource, type Brand } from '../policy/brand/branded-page.js';

/** Of the page; its parts lie below it. */
const ACCOUNT_PAGE_PATH = '/app';

/** The output of `vite build`, as seen from this folder of dist and from the linked programs alike. */
const BUILT = join(import.meta.dirname, '../web');
const BASE = '<base href="/app/" />';

/**
 * Serves the account page, at its own addresses, where browsers return to it from a provider
 * (contract, External providers), and where a device is added (Adding a device). The names of its parts hold the hash of their content.
 */
@Injectable()
export class AccountPage implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    @Inject(httpConfig.KEY) private readonly config: ConfigType<typeof httpConfig>,
    @Inject(brandConfig.KEY) private readonly brand: ConfigType<typeof brandConfig>,
  ) {}

  async onModuleInit(): Promise<void> {
    const { accountPageEnabled, publicUrl, notificationRequestUrl } = this.config;
    if (!accountPageEnabled) {
      return;
    }
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    const html = await readFile(join(BUILT, 'index.html'), 'utf8');
    const page = pageBytes(brandedPage(html, this.brand), publicUrl, this.brand);
    const answer = (request: FastifyRequest, reply: FastifyReply) => sendFile(request, reply, page);
    for (const path of ['', '/', '/device', '/oauth/:provider']) {
      server.get(`${ACCOUNT_PAGE_PATH}${path}`, answer);
    }
    const style = styleBytes(this.brand);
    server.get(`${ACCOUNT_PAGE_PATH}/brand.css`, (request, reply) =>
      sendFile(request, reply, style),
    );
    const script = await readFile(join(BUILT, 'worker.js'), 'utf8');
    const worker = workerBytes(script, notificationRequestUrl);
    server.get(`${ACCOUNT_PAGE_PATH}/worker.js`, (request, reply) =>
      sendFile(request, reply, worker),
    );
    // Relative, so that it holds behind a proxy that strips a prefix.
    server.get('/', (_request, reply) => reply.redirect(`${ACCOUNT_PAGE_PATH.slice(1)}/`));
    await servePageAssets(server, join(BUILT, 'assets'), `${ACCOUNT_PAGE_PATH}/assets/`);
  }
}

/** @param publicUrl its path is the base address of the page behind a proxy */
function pageBytes(html: string, publicUrl: string | null, { logoUrl }: Brand): FileBytes {
  const prefix = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  const body = Buffer.from(html.replace(BASE, `<base href="${prefix}${ACCOUNT_PAGE_PATH}/" />`));
  const headers = accountPageHeaders(imageSource(logoUrl));
  return fileBytes(body, { ...headers, 'content-type': 'text/html; charset=utf-8' });
}

function styleBytes(brand: Brand): FileBytes {
  const type = { 'content-type': 'text/css; charset=utf-8' };
  return fileBytes(Buffer.from(brandStyle(brand)), { ...serviceWorkerHeaders(), ...type });
}

/**
 * Browsers look for a new version by themselves, so that a new address reaches those that are
 * registered.
 *
 * @param requestUrl where the app opens a request
 */
function workerBytes(script: string, requestUrl: string | null): FileBytes {
  const body = Buffer.from(`const REQUEST_URL=${JSON.stringify(requestUrl)};\n${script}`);
  const type = { 'content-type': 'text/javascript; charset=utf-8' };
  return fileBytes(body, { ...serviceWorkerHeaders(), ...type });
}
