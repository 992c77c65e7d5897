import type { ServerOptions } from 'node:https';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import cookie from '@fastify/cookie';
import rateLimit from '@fastify/rate-limit';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { AuditService } from '../audit/audit.service.js';
import { PACKAGE_ROOT } from '../../common/package-root.js';
import { addressGroup } from '../../common/addresses.js';
import { ErrorFilter, refusalCodeOf } from '../http/error.filter.js';
import { addAnswerHeaders, createListener } from '../http/http-listener.js';
import { AppError, type ErrorCode } from '../../common/errors.js';
import { applyRequestRules } from '../http/request-rules.js';
import { RequestValidationPipe } from '../http/request-validation.pipe.js';
import { boundConnections } from '../network/open-connections.js';
import { securityHeaders, adminConsoleHeaders } from '../http/security-headers.js';
import { AdminAuthService } from './access/admin-auth.service.js';
import type { AdminRequest } from './access/admin-caller.js';
import { AdminApiModule, type Services } from './admin-api.module.js';
import {
  brandedPage,
  brandStyle,
  escapeText,
  imageSource,
  type Brand,
} from '../http/branded-page.js';
import { baseElement, servePage } from '../http/hosted-page.js';

const REQUEST_TIMEOUT_MS = 30_000;
const MINUTE_MS = 60_000;
const MAX_COUNTED_ADDRESSES = 10_000;
const MAX_CONNECTIONS = 1000;

/** Refusals of a caller, not of what an administrator typed. */
const ATTACKS: ReadonlySet<ErrorCode> = new Set([
  ...(['missing-token', 'invalid-token', 'token-expired', 'admin-role-required'] as const),
  ...(['origin-not-allowed', 'invalid-pending', 'not-eligible', 'rate-limited'] as const),
]);

interface AdminAppOptions {
  /** null = plain HTTP. */
  readonly tls: ServerOptions | null;
  readonly requestsPerMinute: number;
  /** Addresses and CIDR ranges of the proxies whose X-Forwarded-For counts. */
  readonly trustedProxies: readonly string[];
  /** null = the API alone. */
  readonly console: AdminConsoleOptions | null;
}

/** Builds the application of the administration API and its console, without listening. */
export async function createAdminApp(
  server: Services,
  options: AdminAppOptions,
): Promise<NestFastifyApplication> {
  const http = await createHttpServer(server, options);
  const app = await NestFactory.create<NestFastifyApplication>(
    AdminApiModule.forRoot(server),
    new FastifyAdapter(http),
    { bodyParser: false, abortOnError: false },
  );
  app.useGlobalPipes(new RequestValidationPipe());
  app.useGlobalFilters(new ErrorFilter());
  if (options.console !== null) {
    await serveAdminConsole(http, options.console);
  }
  return app;
}

/** No CORS: pages of other origins read nothing here. */
async function createHttpServer(
  services: Services,
  { tls, requestsPerMinute, trustedProxies }: AdminAppOptions,
): Promise<FastifyInstance> {
  const requestTimeoutMs = REQUEST_TIMEOUT_MS;
  const server = createListener({ tls, requestTimeoutMs, trustedProxies });
  boundConnections(server.server, MAX_CONNECTIONS);
  const headers = { ...securityHeaders().answers, 'cross-origin-resource-policy': 'same-origin' };
  addAnswerHeaders(server, () => headers);
  countRefusals(server, services.get(AuditService, { strict: false }));
  await server.register(cookie);
  await limitCallers(server, services.get(AdminAuthService, { strict: false }), requestsPerMinute);
  applyRequestRules(server);
  return server;
}

/** A hook, because no filter runs for what the limit of an address refuses. */
function countRefusals(server: FastifyInstance, audit: AuditService): void {
  server.addHook('onResponse', (request: AdminRequest, _reply, done) => {
    const code = refusalCodeOf(request);
    if (code !== undefined && ATTACKS.has(code)) {
      audit.refuseCall(code, addressGroup(request.ip), request.admin?.name ?? null);
    }
    done();
  });
}

/** Refused calls of an address must not use up the limit of its administrators. */
async function limitCallers(
  server: FastifyInstance,
  authentication: AdminAuthService,
  max: number,
): Promise<void> {
  await server.register(rateLimit, {
    max,
    timeWindow: MINUTE_MS,
    cache: MAX_COUNTED_ADDRESSES,
    keyGenerator: (request) => {
      const [caller, address] = [authentication.limitKeyOf(request), addressGroup(request.ip)];
      return caller === null ? address : `${address} ${caller}`;
    },
    errorResponseBuilder: (_request, { ttl }) =>
      new AppError('rate-limited', { retryAfterSeconds: Math.ceil(ttl / 1000) }),
  });
}

const PATH = '/admin';

/** The output of `vite build`. */
const BUILT = fileURLToPath(new URL('dist/web/admin', PACKAGE_ROOT));
const BASE = '<base href="/admin/" />';
const LOGIN = '<meta name="gatehouse-admin-login" content="" />';

interface AdminConsoleOptions {
  /** The brand of the deployment, its logo as the origin of this page reaches it. */
  readonly brand: Brand;
  /** URL of ADMIN_PORT for browsers: its path is the base address behind a proxy. */
  readonly publicUrl: string | null;
  /** Name of the administrators' provider; null = they cannot sign in through one. */
  readonly loginProvider: string | null;
}

/** Serves the console for administrators: its page contains no data and requires no credentials. */
async function serveAdminConsole(
  server: FastifyInstance,
  { brand, publicUrl, loginProvider }: AdminConsoleOptions,
): Promise<void> {
  const login = LOGIN.replace('""', () => `"${escapeText(loginProvider ?? '')}"`);
  const html = brandedPage(await readFile(join(BUILT, 'index.html'), 'utf8'), brand)
    .replace(BASE, () => baseElement(PATH, publicUrl))
    .replace(LOGIN, () => login);
  const headers = adminConsoleHeaders(imageSource(brand.logoUrl));
  const files = [
    { paths: ['', '/'], type: 'text/html', text: html, headers },
    { paths: ['/brand.css'], type: 'text/css', text: brandStyle(brand), headers },
  ] as const;
  await servePage(server, PATH, files, BUILT);
}
