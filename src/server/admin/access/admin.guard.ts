import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError } from '../../../common/errors.js';
import { AdminAuthService } from './admin-auth.service.js';
import { adminAccessOf, type AdminRequest } from './admin-caller.js';

@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly authentication: AdminAuthService,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = adminAccessOf(this.reflector, context.getHandler());
    if (access === 'public') {
      return true;
    }
    const request = context.switchToHttp().getRequest<AdminRequest>();
    const caller = await this.authentication.authenticate(request);
    request.admin = { ...caller, address: request.ip };
    if (access === 'operate' && caller.role !== 'operate') {
      throw new AppError('admin-role-required');
    }
    return true;
  }
}
