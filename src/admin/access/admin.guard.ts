import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { AdminAuthentication } from './admin-authentication.js';
import { adminAccessOf, type AdminRequest } from './admin-caller.js';

/** Refuses a request without an administrator's credentials, or with a role that does not suffice. */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(private readonly authentication: AdminAuthentication) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = adminAccessOf(context.getHandler());
    if (access === 'public') {
      return true;
    }
    const request = context.switchToHttp().getRequest<AdminRequest>();
    const caller = await this.authentication.authenticate(request);
    if (access === 'operate' && caller.role !== 'operate') {
      throw new AppError('admin-role-required');
    }
    request.admin = caller;
    return true;
  }
}
