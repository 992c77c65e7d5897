import {
  applyDecorators,
  Inject,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { Refuses } from '../../common/route-docs.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { isFreshLogin } from '../../policy/access.js';
import type { AuthenticatedRequest } from '../route-access.js';

/**
 * Keeps what ends or takes over an account from a token that may have been stolen: the session must
 * have logged in a short time ago (contract, Sessions).
 */
@Injectable()
export class FreshLoginGuard implements CanActivate {
  constructor(
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const { access } = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const { freshLoginMs } = this.settings.auth;
    if (access === undefined || !isFreshLogin(access.loggedInAt, freshLoginMs, this.clock.now())) {
      throw new AppError('fresh-login-required');
    }
    return true;
  }
}

/** For routes that need {@link FreshLoginGuard}. */
export const NeedsFreshLogin = (): MethodDecorator =>
  applyDecorators(UseGuards(FreshLoginGuard), Refuses('fresh-login-required'));
