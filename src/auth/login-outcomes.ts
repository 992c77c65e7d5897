import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AuditLog } from '../audit/audit-log.js';
import { refusalCodeOf } from '../common/error.filter.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { Metrics } from '../metrics/metrics.js';

/** Routes at which a login ends, and its method; null = the provider that the path names. */
const LOGIN_ROUTES: Readonly<Record<string, string | null>> = {
  '/v1/auth': 'key_challenge',
  '/v1/auth/mtls': 'mtls',
  '/v1/auth/mtls/claim': 'mtls',
  '/v1/auth/external/:provider/finalize': null,
  '/v1/auth/external/:provider/finalize-keyless': null,
};

/** Where a browser returns: a refusal is no error there, and is noted by {@link noteReturnError}. */
const CALLBACK_ROUTE = '/v1/oauth/:provider/callback';

const returnErrors = new WeakMap<object, string>();

/** Notes with which error, as the return address names it, a login ended in the browser. */
export function noteReturnError(request: FastifyRequest, error: string): void {
  returnErrors.set(request, error);
}

/** Counts how logins end, for the metrics and, where they are refused, for the audit trail. */
@Injectable()
export class LoginOutcomes {
  constructor(
    private readonly audit: AuditLog,
    private readonly metrics: Metrics,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Call it before the routes are added: only those that log somebody in are watched. */
  watch(server: FastifyInstance): void {
    server.addHook('onRoute', (route) => {
      const isCallback = route.url === CALLBACK_ROUTE;
      if (isCallback || (Object.hasOwn(LOGIN_ROUTES, route.url) && route.method === 'POST')) {
        const own = [route.onResponse ?? []].flat();
        route.onResponse = [
          ...own,
          (request, reply, done): void => {
            if (isCallback) {
              this.countCallback(request);
            } else {
              this.countLogin(request, reply);
            }
            done();
          },
        ];
      }
    });
  }

  private countLogin(request: FastifyRequest, reply: FastifyReply): void {
    const method = LOGIN_ROUTES[request.routeOptions.url ?? ''] ?? this.providerOf(request);
    const reason = refusalCodeOf(request);
    if (reason !== undefined) {
      this.refuse(method, reason);
    } else if (reply.statusCode === 200) {
      this.metrics.logins.inc({ method, outcome: 'ok', reason: '' });
    }
  }

  private countCallback(request: FastifyRequest): void {
    const error = returnErrors.get(request);
    if (error !== undefined) {
      this.refuse(this.providerOf(request), error.replaceAll('_', '-'));
    }
  }

  private refuse(method: string, reason: string): void {
    this.metrics.logins.inc({ method, outcome: 'refused', reason });
    this.audit.refuse(method, reason);
  }

  /** A path can name anything; only what is configured is told apart. */
  private providerOf(request: FastifyRequest): string {
    const { provider } = request.params as { provider?: string };
    return this.settings.providers.find(({ id }) => id === provider)?.id ?? 'unknown';
  }
}
