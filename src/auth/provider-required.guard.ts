import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { routeAccessOf } from './authentication.guard.js';
import type { AuthenticatedRequest } from './route-access.js';

/**
 * Keeps an account out while a required provider is missing or says no (specification,
 * Enforcement). It is global: a route is enforced unless it says otherwise.
 */
@Injectable()
export class ProviderRequiredGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http' || routeAccessOf(this.reflector, context) !== 'eligible') {
      return true;
    }
    const { access } = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (access?.providerRefusal) {
      throw access.providerRefusal;
    }
    return access !== undefined;
  }
}
