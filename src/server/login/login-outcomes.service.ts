import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AuditService } from '../audit/audit.service.js';
import { refusalCodeOf } from '../http/error.filter.js';
import { providersConfig, type ConfiguredProviders } from '../config/providers.config.js';
import { MetricsService } from '../metrics/metrics.service.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly loginMethod?: string;
  }
}

const PROVIDER_OF_PATH = ':provider';

/** Marks a route that ends a login. Its method is `:provider` where the path names the provider. */
export const LoginMethod = (loginMethod: string): MethodDecorator => RouteConfig({ loginMethod });

/** A hook: no interceptor runs for what guards, the body parser or an address limit refuse. */
@Injectable()
export class LoginOutcomesService {
  constructor(
    { httpAdapter }: HttpAdapterHost,
    private readonly audit: AuditService,
    private readonly metrics: MetricsService,
    @Inject(providersConfig.KEY) private readonly config: ConfiguredProviders,
  ) {
    // Nest adds the routes before it calls `onModuleInit`.
    const server = httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onRoute', (route) => {
      const loginMethod = route.config?.loginMethod;
      if (loginMethod !== undefined) {
        route.onResponse = (request, reply, done): void => {
          this.count(loginMethod, request, reply);
          done();
        };
      }
    });
  }

  /**
   * @param reason an error code, or the error in a return address
   * @param detail one of a bounded number of codes; null = none
   */
  refuse(method: string, reason: string, detail: string | null = null): void {
    const code = reason.replaceAll('_', '-');
    this.metrics.logins.inc({ method, outcome: 'refused', reason: code });
    this.audit.refuse(method, code, detail);
  }

  private count(loginMethod: string, request: FastifyRequest, reply: FastifyReply): void {
    const method = loginMethod === PROVIDER_OF_PATH ? this.providerOf(request) : loginMethod;
    const reason = refusalCodeOf(request);
    if (reason !== undefined) {
      this.refuse(method, reason);
    } else if (reply.statusCode === 200) {
      this.metrics.logins.inc({ method, outcome: 'ok', reason: '' });
    }
  }

  /** Only configured providers are labels: a path can contain any text. */
  private providerOf(request: FastifyRequest): string {
    const { provider } = request.params as { provider?: string };
    return this.config.find(({ id }) => id === provider)?.id ?? 'unknown';
  }
}
