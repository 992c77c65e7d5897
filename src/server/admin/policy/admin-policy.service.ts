import { Inject, Injectable } from '@nestjs/common';
import { AdmissionService } from '../../auth/admission.service.js';
import { uiConfig, type UiSettings } from '../../config/browser.config.js';
import { httpConfig, type HttpSettings } from '../../config/http.config.js';
import { policyStatements } from '../../../core/policy/findings/describe-policy.js';
import { findLockouts, type LockoutFinding } from '../../../core/policy/findings/lockout.js';
import type { OperatorPolicy } from '../../../core/policy/operator-policy.js';
import { ExpiryService } from '../../providers/certificate/expiry.service.js';
import type { AdminPolicyDto } from './admin-policy.dto.js';

/** Describes the policy, and what is to be reported about it and about what expires. */
@Injectable()
export class AdminPolicyService {
  constructor(
    private readonly admission: AdmissionService,
    private readonly expiry: ExpiryService,
    @Inject(httpConfig.KEY) private readonly http: HttpSettings,
    @Inject(uiConfig.KEY) private readonly ui: UiSettings,
  ) {}

  present(): OperatorPolicy {
    return { ...this.admission.policy, http: this.http, ui: this.ui };
  }

  describe(): AdminPolicyDto {
    const described = inWords(this.present());
    const all = [...described.findings, ...this.expiry.findings()];
    const of = (wanted: LockoutFinding['severity']) =>
      all.filter(({ severity }) => severity === wanted);
    return { ...described, findings: [...of('error'), ...of('warning'), ...of('notice')] };
  }
}

export function inWords(policy: OperatorPolicy): AdminPolicyDto {
  const statements = policyStatements(policy);
  const sentences = statements.map(({ message }) => message);
  return { sentences, statements, findings: findLockouts(policy) };
}
