import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthService, type Access } from './auth.service.js';
import { bearerTokenFrom } from './bearer-token.js';
import { RateLimits } from './rate-limits.js';
import { ROUTE_ACCESS, type AuthenticatedRequest, type RouteAccess } from './route-access.js';

/** Lets nobody through without a good token, unless the route is public. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly auth: AuthService,
    private readonly limits: RateLimits,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http' || routeAccessOf(this.reflector, context) === 'public') {
      return true;
    }
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const access = this.auth.authenticate(bearerTokenFrom(request.headers.authorization));
    return access instanceof Promise
      ? access.then((known) => this.admit(request, known))
      : this.admit(request, access);
  }

  private admit(request: AuthenticatedRequest, access: Access): boolean | Promise<boolean> {
    request.access = access;
    return this.limits.isLimited('perAccount')
      ? this.limits.count('perAccount', access.accountId).then(() => true)
      : true;
  }
}

export function routeAccessOf(reflector: Reflector, context: ExecutionContext): RouteAccess {
  const targets = [context.getHandler(), context.getClass()];
  return reflector.getAllAndOverride<RouteAccess | undefined>(ROUTE_ACCESS, targets) ?? 'eligible';
}
