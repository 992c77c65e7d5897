import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AppError } from '../common/errors.js';
import { authConfig } from '../config/auth.config.js';
import { encryptionConfig } from '../config/encryption.config.js';
import { keylessConfig } from '../config/keyless.config.js';
import { OperatorRules, type RuledSettings } from '../config/rules/operator-rules.js';
import {
  admissionTable,
  judgeAdmission,
  type AdmissionEntry,
  type AdmissionPolicy,
  type AuthAction,
  type AuthMode,
} from '../policy/admission/admission.js';

/** The admission table of this server: every login route asks it before it does anything. */
@Injectable()
export class Admission {
  private made: { readonly policy: AdmissionPolicy; readonly table: readonly AdmissionEntry[] };

  constructor(
    @Inject(authConfig.KEY) auth: ConfigType<typeof authConfig>,
    @Inject(encryptionConfig.KEY) encryption: ConfigType<typeof encryptionConfig>,
    @Inject(keylessConfig.KEY) keyless: ConfigType<typeof keylessConfig>,
    rules: OperatorRules,
  ) {
    const make = (now: RuledSettings): Admission['made'] => {
      const policy = { auth, encryption, keyless, ...now };
      return { policy, table: admissionTable(policy) };
    };
    this.made = make(rules.current());
    rules.onChange((now) => (this.made = make(now)));
  }

  get table(): readonly AdmissionEntry[] {
    return this.made.table;
  }

  /** Replaced as a whole when rules change. */
  get policy(): AdmissionPolicy {
    return this.made.policy;
  }

  allows(method: string, action: AuthAction, mode: AuthMode): boolean {
    return judgeAdmission(this.made.table, method, action, mode).isAllowed;
  }

  /** @throws AppError the code of the refusal, with the provider it is about */
  require(method: string, action: AuthAction, mode: AuthMode): void {
    const decision = judgeAdmission(this.made.table, method, action, mode);
    if (!decision.isAllowed) {
      throw new AppError(decision.code, method === 'key_challenge' ? {} : { provider: method });
    }
  }
}
