import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { routeAccessOf, type AuthenticatedRequest } from './route-access.js';

/**
 * Refuses an account while a required provider is missing or has refused it (specification,
 * Enforcement). It is global: a route is enforced unless it says otherwise.
 */
@Injectable()
export class ProviderRequiredGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const required = routeAccessOf(context.getHandler(), context.getClass());
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
