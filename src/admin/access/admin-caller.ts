import { createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { OperatorName } from '../../policy/audit-event.js';

/** `read` sees everything; `operate` also acts. */
export const ADMIN_ROLES = ['read', 'operate'] as const;

export type AdminRole = (typeof ADMIN_ROLES)[number];

/** An administrator whose credentials were accepted. */
export interface AdminCaller {
  /** The name in the audit trail. */
  readonly name: OperatorName;
  readonly role: AdminRole;
  readonly method: 'token' | 'certificate' | 'login';
}

/** A request that passed the guard. */
export interface AdminRequest extends FastifyRequest {
  admin?: AdminCaller;
}

const ADMIN_ACCESS = 'gatehouse:admin-access';

/** What a route requires; `read` where nothing is declared. */
export type AdminAccess = AdminRole | 'public';

/** A route that acts: it refuses the role `read`. */
export const Operates = (): MethodDecorator => SetMetadata(ADMIN_ACCESS, 'operate');

/** Opts a route out of authentication: the two steps of a login. */
export const OpenToAll = (): MethodDecorator => SetMetadata(ADMIN_ACCESS, 'public');

/** What the handler of a route requires. */
export function adminAccessOf(handler: object): AdminAccess {
  return (Reflect.getMetadata(ADMIN_ACCESS, handler) as AdminAccess | undefined) ?? 'read';
}

/** The {@link AdminCaller} of a request. */
export const Admin = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const { admin } = context.switchToHttp().getRequest<AdminRequest>();
  if (admin === undefined) {
    throw new Error('A route asked for its caller but was not authenticated.');
  }
  return admin;
});
