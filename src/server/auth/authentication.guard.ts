import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthService, type Access } from './auth.service.js';
import { RateLimitService } from './rate-limit.service.js';
import {
  routeAccessOf,
  type AuthenticatedRequest,
  type RouteAccess,
  type RouteTarget,
} from './route-access.js';

const BEARER = /^Bearer +([^\s]+) *$/i;

@Injectable()
export class AuthenticationGuard implements CanActivate {
  /** By class and handler. Measured: reading the metadata again costs a request to discovery 3 %. */
  private readonly known = new Map<RouteTarget, Map<RouteTarget, RouteAccess>>();

  constructor(
    private readonly auth: AuthService,
    private readonly limits: RateLimitService,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const access = this.accessOf(context.getHandler(), context.getClass());
    if (context.getType() !== 'http' || access === 'public') {
      return true;
    }
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const authenticated = this.authenticate(request);
    if (access === 'any-token') {
      return authenticated;
    }
    return authenticated instanceof Promise
      ? authenticated.then(() => requireProviders(request))
      : requireProviders(request);
  }

  /**
   * Authenticates a request: one with a large body before it is read, and again once it has arrived,
   * because access may have ended meanwhile.
   * @throws AppError (or rejects with it) as the service, and `rate-limited`
   */
  authenticate(request: AuthenticatedRequest): boolean | Promise<boolean> {
    const caller = this.auth.authenticate(bearerTokenFrom(request.headers.authorization));
    return caller instanceof Promise
      ? caller.then((known) => this.attach(request, known))
      : this.attach(request, caller);
  }

  private accessOf(handler: RouteTarget, controller: RouteTarget): RouteAccess {
    const routes = this.known.get(controller) ?? new Map<RouteTarget, RouteAccess>();
    const access = routes.get(handler) ?? routeAccessOf(this.reflector, [handler, controller]);
    this.known.set(controller, routes.set(handler, access));
    return access;
  }

  private attach(request: AuthenticatedRequest, access: Access): boolean | Promise<boolean> {
    const isFirst = request.access === undefined;
    request.access = access;
    return isFirst && this.limits.isLimited('perAccount')
      ? this.limits.countCaller(access).then(() => true)
      : true;
  }
}

/** Applies to every route that does not opt out (specification, Enforcement). */
function requireProviders({ access }: AuthenticatedRequest): boolean {
  if (access?.providerRefusal) {
    throw access.providerRefusal;
  }
  return access !== undefined;
}

/** RFC 6750, 2.1. */
export function bearerTokenFrom(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}
