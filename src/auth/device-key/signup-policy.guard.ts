import { Inject, Injectable, type CanActivate } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';

/**
 * Refuses device keys where they are switched off. Whether a new key may sign up is judged after its
 * signature: a caller that cannot sign for a key learns nothing of its account.
 */
@Injectable()
export class SignupPolicyGuard implements CanActivate {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  canActivate(): boolean {
    if (!this.settings.auth.keyChallengeEnabled) {
      throw new AppError('key-challenge-disabled');
    }
    return true;
  }
}
