import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { routeAccessOf, type AuthenticatedRequest } from './route-access.js';

/** Applies to every route that does not opt out (specification, Enforcement). */
@Injectable()
export class ProviderRequiredGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const required = routeAccessOf(this.reflector, [context.getHandler(), context.getClass()]);
    if (context.getType() !== 'http' || required !== 'eligible') {
      return true;
    }
    const { access } = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (access?.providerRefusal) {
      throw access.providerRefusal;
    }
    return access !== undefined;
  }
}
