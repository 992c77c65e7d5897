import {
  applyDecorators,
  Inject,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { AppError } from '../../../common/errors.js';
import { Refuses } from '../../http/route-docs.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import { isFreshLogin } from '../../../core/policy/admission/access.js';
import type { AuthenticatedRequest } from '../route-access.js';

/** Protects the end and take-over of an account from a stolen token (contract, Sessions). */
@Injectable()
class FreshLoginGuard implements CanActivate {
  constructor(
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const { access } = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const { freshLoginMs } = this.config;
    if (access === undefined || !isFreshLogin(access.loggedInAt, freshLoginMs, this.clock.now())) {
      throw new AppError('fresh-login-required');
    }
    return true;
  }
}

/** Marks routes that need {@link FreshLoginGuard}. */
export const NeedsFreshLogin = (): MethodDecorator =>
  applyDecorators(UseGuards(FreshLoginGuard), Refuses('fresh-login-required'));
