import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Access } from './auth.service.js';

/** The access that a route requires: none, a valid token, or one with its required providers linked. */
export type RouteAccess = 'public' | 'any-token' | 'eligible';

export type RouteTarget = ReturnType<ExecutionContext['getHandler' | 'getClass']>;

const RequiredAccess = Reflector.createDecorator<RouteAccess>();

/** A request that passed {@link AuthenticationGuard}. */
export interface AuthenticatedRequest extends FastifyRequest {
  access?: Access;
}

export const Public = (): MethodDecorator & ClassDecorator => RequiredAccess('public');

/** Opts out of required providers alone: a person needs the route to resolve their refusal. */
export const OpenToAnyToken = (): MethodDecorator & ClassDecorator => RequiredAccess('any-token');

export function routeAccessOf(reflector: Reflector, route: RouteTarget[]): RouteAccess {
  return reflector.getAllAndOverride(RequiredAccess, route) ?? 'eligible';
}

/** The {@link Access} of the caller. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Access => {
  const { access } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (access === undefined) {
    throw new Error('A route asked for its caller but was not authenticated.');
  }
  return access;
});
