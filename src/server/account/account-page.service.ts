import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PACKAGE_ROOT } from '../../common/package-root.js';
import { brandedPage, brandStyle, imageSource, type Brand } from '../http/branded-page.js';
import { fileBytes, sendFile, servePageAssets, type FileBytes } from '../http/hosted-page.js';
import { accountPageHeaders, serviceWorkerHeaders } from '../http/security-headers.js';
import { acceptsPrograms } from '../../core/policy/programs/programs.js';
import { brandConfig, type BrandSettings } from '../config/brand.config.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';

/** Path of the page; its files lie below it. */
const ACCOUNT_PAGE_PATH = '/app';

/** The output of `vite build`. */
const BUILT = fileURLToPath(new URL('dist/web', PACKAGE_ROOT));
const BASE = '<base href="/app/" />';

/**
 * Serves the page at its own addresses, where browsers return to it from a provider, and where a
 * device is added (contract).
 */
@Injectable()
export class AccountPageService implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    @Inject(httpConfig.KEY) private readonly config: HttpSettings,
    @Inject(brandConfig.KEY) private readonly brand: BrandSettings,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
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
    const programs = acceptsPrograms(this.servers) ? ['/authorize'] : [];
    for (const path of ['', '/', '/device', '/oauth/:provider', ...programs]) {
      server.get(`${ACCOUNT_PAGE_PATH}${path}`, answer);
    }
    const style = styleBytes(this.brand);
    server.get(`${ACCOUNT_PAGE_PATH}/brand.css`, (request, reply) =>
      sendFile(request, reply, style),
    );
    const manifest = manifestBytes(this.brand);
    server.get(`${ACCOUNT_PAGE_PATH}/manifest.webmanifest`, (request, reply) =>
      sendFile(request, reply, manifest),
    );
    const script = await readFile(join(BUILT, 'worker.js'), 'utf8');
    const worker = workerBytes(script, notificationRequestUrl);
    server.get(`${ACCOUNT_PAGE_PATH}/worker.js`, (request, reply) =>
      sendFile(request, reply, worker),
    );
    // Relative, so that it works behind a proxy that strips a prefix.
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

/** An iPhone before iOS 26 shows notifications only of an app on the Home Screen. */
function manifestBytes({ name }: Brand): FileBytes {
  const manifest = { name, start_url: './', scope: './', display: 'standalone' };
  const type = { 'content-type': 'application/manifest+json; charset=utf-8' };
  return fileBytes(Buffer.from(JSON.stringify(manifest)), { ...serviceWorkerHeaders(), ...type });
}

/**
 * Prepends the address: browsers look for a changed script, so it reaches registered ones.
 * @param requestUrl the address at which the app opens a request
 */
function workerBytes(script: string, requestUrl: string | null): FileBytes {
  const body = Buffer.from(`const REQUEST_URL=${JSON.stringify(requestUrl)};\n${script}`);
  const type = { 'content-type': 'text/javascript; charset=utf-8' };
  return fileBytes(body, { ...serviceWorkerHeaders(), ...type });
}
