import { Injectable, type CanActivate } from '@nestjs/common';
import { AdmissionService } from './admission.service.js';

/**
 * Refuses device keys where they are switched off, by the admission table. The other methods sign up at
 * routes that learn the identity, and so the row of the table to judge, only in their service, which
 * asks {@link AdmissionService} there. Whether a new key may sign up is judged after its
 * signature: a caller that cannot sign for a key must not find out whether it has an account.
 */
@Injectable()
export class SignupPolicyGuard implements CanActivate {
  constructor(private readonly admission: AdmissionService) {}

  canActivate(): boolean {
    this.admission.require('key_challenge', 'login', 'keyed');
    return true;
  }
}
