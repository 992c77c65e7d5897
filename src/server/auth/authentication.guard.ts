import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthService, type Access } from './auth.service.js';
import { RateLimitService } from './rate-limit.service.js';
import { routeAccessOf, type AuthenticatedRequest } from './route-access.js';

const BEARER = /^Bearer +([^\s]+) *$/i;

@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly auth: AuthService,
    private readonly limits: RateLimitService,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const access = routeAccessOf(this.reflector, [context.getHandler(), context.getClass()]);
    if (context.getType() !== 'http' || access === 'public') {
      return true;
    }
    return this.authenticate(context.switchToHttp().getRequest<AuthenticatedRequest>());
  }

  /**
   * Authenticates a request once: callers with a large body before it is read.
   * @throws AppError (or rejects with it) as the service, and `rate-limited`
   */
  authenticate(request: AuthenticatedRequest): boolean | Promise<boolean> {
    if (request.access !== undefined) {
      return true;
    }
    const caller = this.auth.authenticate(bearerTokenFrom(request.headers.authorization));
    return caller instanceof Promise
      ? caller.then((known) => this.attach(request, known))
      : this.attach(request, caller);
  }

  private attach(request: AuthenticatedRequest, access: Access): boolean | Promise<boolean> {
    request.access = access;
    return this.limits.isLimited('perAccount')
      ? this.limits.countCaller(access).then(() => true)
      : true;
  }
}

/** RFC 6750, 2.1. */
export function bearerTokenFrom(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}
