import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AuthService, type Access } from './auth.service.js';
import { RateLimits } from './rate-limits.js';
import { routeAccessOf, type AuthenticatedRequest } from './route-access.js';

const BEARER = /^Bearer +([^\s]+) *$/i;

/** Refuses a request without a valid token, unless the route is public. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly auth: AuthService,
    private readonly limits: RateLimits,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const access = routeAccessOf(context.getHandler(), context.getClass());
    if (context.getType() !== 'http' || access === 'public') {
      return true;
    }
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const caller = this.auth.authenticate(bearerTokenFrom(request.headers.authorization));
    return caller instanceof Promise
      ? caller.then((known) => this.admit(request, known))
      : this.admit(request, caller);
  }

  private admit(request: AuthenticatedRequest, access: Access): boolean | Promise<boolean> {
    request.access = access;
    return this.limits.isLimited('perAccount')
      ? this.limits.count('perAccount', access.accountId).then(() => true)
      : true;
  }
}

/** The credentials of an `Authorization: Bearer …` header (RFC 6750, 2.1); undefined when none. */
export function bearerTokenFrom(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}
