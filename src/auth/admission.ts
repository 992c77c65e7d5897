import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AppError } from '../common/errors.js';
import { authConfig } from '../config/auth.config.js';
import { encryptionConfig } from '../config/encryption.config.js';
import { keylessConfig } from '../config/keyless.config.js';
import { mtlsConfig } from '../config/mtls.config.js';
import { providersConfig } from '../config/providers.config.js';
import {
  admissionTable,
  judgeAdmission,
  type AdmissionEntry,
  type AdmissionPolicy,
  type AuthAction,
  type AuthMode,
} from '../policy/admission/admission.js';

/** The admission table of this server, made once: every login route asks it before it does anything. */
@Injectable()
export class Admission {
  readonly table: readonly AdmissionEntry[];
  readonly policy: AdmissionPolicy;

  constructor(
    @Inject(authConfig.KEY) auth: ConfigType<typeof authConfig>,
    @Inject(encryptionConfig.KEY) encryption: ConfigType<typeof encryptionConfig>,
    @Inject(keylessConfig.KEY) keyless: ConfigType<typeof keylessConfig>,
    @Inject(mtlsConfig.KEY) mtls: ConfigType<typeof mtlsConfig>,
    @Inject(providersConfig.KEY) providers: ConfigType<typeof providersConfig>,
  ) {
    this.policy = { auth, encryption, keyless, mtls, providers };
    this.table = admissionTable(this.policy);
  }

  allows(method: string, action: AuthAction, mode: AuthMode): boolean {
    return judgeAdmission(this.table, method, action, mode).isAllowed;
  }

  /** @throws AppError the code of the refusal, with the provider it is about */
  require(method: string, action: AuthAction, mode: AuthMode): void {
    const decision = judgeAdmission(this.table, method, action, mode);
    if (!decision.isAllowed) {
      throw new AppError(decision.code, method === 'key_challenge' ? {} : { provider: method });
    }
  }
}
