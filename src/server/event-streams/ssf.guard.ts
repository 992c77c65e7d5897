import {
  applyDecorators,
  createParamDecorator,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { bearerTokenFrom } from '../auth/authentication.guard.js';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { Refuses } from '../http/route-docs.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { ClientTokenService, type ClientScope } from '../oauth/client-token.service.js';

interface BackendRequest extends FastifyRequest {
  backend?: ResourceServerSettings;
}

const RequiredScope = Reflector.createDecorator<ClientScope>();

/** Admits backends with a token of their own that has the scope of the route. */
@Injectable()
export class SsfGuard implements CanActivate {
  constructor(
    private readonly tokens: ClientTokenService,
    private readonly limits: RateLimitService,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const scope = this.reflector.get(RequiredScope, context.getHandler());
    const request = context.switchToHttp().getRequest<BackendRequest>();
    const token = bearerTokenFrom(request.headers.authorization);
    request.backend = await this.limits.countRefusals(request.ip, () =>
      this.tokens.authenticate(token, scope),
    );
    return true;
  }
}

/** Marks routes that need a token of a backend with this scope. */
export const NeedsScope = (scope: ClientScope): MethodDecorator =>
  applyDecorators(
    RequiredScope(scope),
    // Only refusals are counted: requests of others at its address must not end the signals of a backend.
    RouteConfig({ rateLimit: false }),
    ApiBearerAuth(),
    UseGuards(SsfGuard),
    Refuses('missing-token', 'invalid-token', 'insufficient-scope', 'rate-limited', 'unavailable'),
  );

/** The backend that calls. */
export const Backend = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ResourceServerSettings => {
    const { backend } = context.switchToHttp().getRequest<BackendRequest>();
    if (backend === undefined) {
      throw new Error('A route asked for its backend but has no scope.');
    }
    return backend;
  },
);
