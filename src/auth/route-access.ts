import {
  applyDecorators,
  createParamDecorator,
  SetMetadata,
  type ExecutionContext,
} from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Access } from './auth.service.js';

/** Who a route is for: nobody in particular, any good token, or one with its providers linked. */
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
  applyDecorators(SetMetadata(ROUTE_ACCESS, 'any-token'), ApiBearerAuth());

/** The {@link Access} of the caller. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Access => {
  const { access } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (access === undefined) {
    throw new Error('A route asked for its caller but was not authenticated.');
  }
  return access;
});
