import { Injectable, type CanActivate } from '@nestjs/common';
import { Admission } from './admission.js';

/**
 * Refuses device keys where they are switched off. Whether a new key may sign up is judged after its
 * signature: a caller that cannot sign for a key must not find out whether it has an account.
 */
@Injectable()
export class SignupPolicyGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  canActivate(): boolean {
    this.admission.require('key_challenge', 'login', 'keyed');
    return true;
  }
}
