import { createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Access } from './auth.service.js';

/** What a route requires: nothing, a valid token, or one whose required providers are linked. */
export type RouteAccess = 'public' | 'any-token' | 'eligible';

export const ROUTE_ACCESS = 'gatehouse:route-access';

/** A request that passed {@link AuthenticationGuard}. */
export interface AuthenticatedRequest extends FastifyRequest {
  access?: Access;
}

/** Opts a route out of authentication. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(ROUTE_ACCESS, 'public');

/**
 * Opts a route out of the required-provider policy, not out of authentication: a person needs it
 * to get out of `provider-required` (contract, Required providers and offboarding).
 */
export const OpenToAnyToken = (): MethodDecorator & ClassDecorator =>
  SetMetadata(ROUTE_ACCESS, 'any-token');

/** The declared access of a route; a handler belongs to one controller. */
export function routeAccessOf(handler: object, controller: object): RouteAccess {
  const known = knownAccess.get(handler);
  if (known !== undefined) {
    return known;
  }
  const declared: unknown =
    Reflect.getMetadata(ROUTE_ACCESS, handler) ?? Reflect.getMetadata(ROUTE_ACCESS, controller);
  const access = (declared ?? 'eligible') as RouteAccess;
  knownAccess.set(handler, access);
  return access;
}

/** Reading metadata costs more than the rest of a guard. */
const knownAccess = new WeakMap<object, RouteAccess>();

/** The {@link Access} of the caller. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Access => {
  const { access } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (access === undefined) {
    throw new Error('A route asked for its caller but was not authenticated.');
  }
  return access;
});
