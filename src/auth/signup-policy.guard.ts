import { Inject, Injectable, type CanActivate } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AppError } from '../common/errors.js';
import { authConfig } from '../config/auth.config.js';

/**
 * Refuses device keys where they are switched off. Whether a new key may sign up is judged after its
 * signature: a caller that cannot sign for a key must not find out whether it has an account.
 */
@Injectable()
export class SignupPolicyGuard implements CanActivate {
  constructor(@Inject(authConfig.KEY) private readonly config: ConfigType<typeof authConfig>) {}

  canActivate(): boolean {
    if (!this.config.keyChallengeEnabled) {
      throw new AppError('key-challenge-disabled');
    }
    return true;
  }
}
