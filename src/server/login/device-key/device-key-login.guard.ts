import { Injectable, type CanActivate } from '@nestjs/common';
import { AdmissionService } from '../../auth/admission.service.js';

/**
 * Refuses device keys where they are switched off. Other methods learn the identity, and so the row
 * of the table, in their service. Whether a new key may sign up is judged after its signature: only
 * its holder may learn if it has an account.
 */
@Injectable()
export class DeviceKeyLoginGuard implements CanActivate {
  constructor(private readonly admission: AdmissionService) {}

  canActivate(): boolean {
    this.admission.require('key_challenge', 'login', 'keyed');
    return true;
  }
}
