import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { OperatorName } from '../../../core/policy/audit-event.js';
import type { ActOrigin } from '../../storage/repositories/account-admin.repository.js';

/** `read` allows all reads; `operate` also allows changes. */
export const ADMIN_ROLES = ['read', 'operate'] as const;

export type AdminRole = (typeof ADMIN_ROLES)[number];

export interface AdminCaller {
  /** Name in the audit log. */
  readonly name: OperatorName;
  readonly role: AdminRole;
  readonly method: 'token' | 'certificate' | 'login';
}

/** The caller of a request, for the audit trail. */
export interface AdminOrigin extends AdminCaller {
  /** Address of the client, as the trusted proxies report it. */
  readonly address: string;
}

/** The origin of an act, as the audit log keeps it. */
export function originOf({ name: actor, address }: AdminOrigin, reason: string): ActOrigin {
  return { actor, reason, address };
}

export interface AdminRequest extends FastifyRequest {
  admin?: AdminOrigin;
}

/** The role that a route requires; `read` where nothing is declared. */
type AdminAccess = AdminRole | 'public';

const RequiredRole = Reflector.createDecorator<AdminAccess>();

/** Marks a route that makes changes: it refuses the role `read`. */
export const Operates = (): MethodDecorator => RequiredRole('operate');

/** Opts the two steps of a login out of authentication. */
export const OpenToAll = (): MethodDecorator => RequiredRole('public');

export function adminAccessOf(
  reflector: Reflector,
  handler: ReturnType<ExecutionContext['getHandler']>,
): AdminAccess {
  return reflector.getAllAndOverride(RequiredRole, [handler]) ?? 'read';
}

export const Admin = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const { admin } = context.switchToHttp().getRequest<AdminRequest>();
  if (admin === undefined) {
    throw new Error('A route asked for its caller but was not authenticated.');
  }
  return admin;
});
