import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import {
  answersConfig,
  type AnswersSettings,
  encryptionConfig,
  type EncryptionSettings,
} from '../config/encryption.config.js';
import { keylessConfig, type KeylessSettings } from '../config/keyless.config.js';
import { OperatorRulesService, type RuledSettings } from '../config/operator-rules.service.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import {
  admissionTable,
  judgeAdmission,
  type AdmissionEntry,
  type AdmissionPolicy,
  type AuthAction,
  type AuthMode,
} from '../../core/policy/admission/admission.js';

/** The admission table of this server. Every login route checks it first. */
@Injectable()
export class AdmissionService implements OnModuleInit {
  private made: { readonly policy: AdmissionPolicy; readonly table: readonly AdmissionEntry[] };

  constructor(
    @Inject(answersConfig.KEY) private readonly answers: AnswersSettings,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
    @Inject(encryptionConfig.KEY) private readonly encryption: EncryptionSettings,
    @Inject(keylessConfig.KEY) private readonly keyless: KeylessSettings,
    @Inject(resourceServersConfig.KEY)
    private readonly resourceServers: readonly ResourceServerSettings[],
    private readonly rules: OperatorRulesService,
  ) {
    this.made = this.make(rules.current());
  }

  onModuleInit(): void {
    this.rules.onChange((now) => (this.made = this.make(now)));
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

  /** @throws AppError the code of the refusal, with its provider */
  require(method: string, action: AuthAction, mode: AuthMode): void {
    const decision = judgeAdmission(this.made.table, method, action, mode);
    if (!decision.isAllowed) {
      throw new AppError(decision.code, method === 'key_challenge' ? {} : { provider: method });
    }
  }

  private make(now: RuledSettings): AdmissionService['made'] {
    const { answers, auth, encryption, keyless, resourceServers } = this;
    const policy = { answers, auth, encryption, keyless, resourceServers, ...now };
    return { policy, table: admissionTable(policy) };
  }
}
