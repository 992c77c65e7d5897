import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { PACKAGE_ROOT } from '../../common/package-root.js';
import { brandedPage, brandStyle, imageSource } from '../http/branded-page.js';
import { baseElement, servePage, type HostedFile } from '../http/hosted-page.js';
import { accountPageHeaders, serviceWorkerHeaders } from '../http/security-headers.js';
import { acceptsPrograms } from '../../core/policy/programs/programs.js';
import { brandConfig, type BrandSettings } from '../config/brand.config.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';

/** Path of the page; its files lie below it. */
const PATH = '/app';

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
    const html = await readFile(join(BUILT, 'index.html'), 'utf8');
    const script = await readFile(join(BUILT, 'worker.js'), 'utf8');
    const { name, logoUrl } = this.brand;
    const programs = acceptsPrograms(this.servers) ? ['/authorize'] : [];
    // An iPhone before iOS 26 shows notifications only of an app on the Home Screen.
    const manifest = { name, start_url: './', scope: './', display: 'standalone' };
    const headers = serviceWorkerHeaders();
    const files: HostedFile[] = [
      {
        paths: ['', '/', '/device', '/oauth/:provider', ...programs],
        type: 'text/html',
        text: brandedPage(html, this.brand).replace(BASE, baseElement(PATH, publicUrl)),
        headers: accountPageHeaders(imageSource(logoUrl)),
      },
      { paths: ['/brand.css'], type: 'text/css', text: brandStyle(this.brand), headers },
      {
        paths: ['/manifest.webmanifest'],
        type: 'application/manifest+json',
        text: JSON.stringify(manifest),
        headers,
      },
      {
        paths: ['/worker.js'],
        type: 'text/javascript',
        text: workerScript(script, notificationRequestUrl),
        headers,
      },
    ];
    await servePage(this.host.httpAdapter.getInstance<FastifyInstance>(), PATH, files, BUILT);
  }
}

/**
 * Prepends the address: browsers look for a changed script, so it reaches registered ones.
 * @param requestUrl the address at which the app opens a request
 */
function workerScript(script: string, requestUrl: string | null): string {
  return `const REQUEST_URL=${JSON.stringify(requestUrl)};\n${script}`;
}
