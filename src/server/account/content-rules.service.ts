import { Inject, Injectable } from '@nestjs/common';
import { AppError, invalidRequest } from '../../common/errors.js';
import { encryptionConfig, type EncryptionSettings } from '../config/encryption.config.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import {
  judgeContentWrite,
  judgeMigration,
  judgeModeSwitch,
  type ContentDecision,
  type ModeDecision,
} from '../../core/policy/admission/encryption.js';
import type { AccountMode, KeyMode } from '../../core/policy/operator-policy.js';
import { modeOf, type Content } from '../../core/protocol/content.js';

/**
 * Settings may use a third of a body, and so may all credentials: together, a third larger when
 * encrypted, they fit into the one request that migrates them.
 */
const SHARE_OF_BODY = 3;

/** Rules for stored content: its mode, its kind and its size. */
@Injectable()
export class ContentRulesService {
  /** Limit of the settings, and of all credentials together, in bytes as the content is stored. */
  readonly maxBytes: number;

  constructor(
    @Inject(encryptionConfig.KEY) private readonly encryption: EncryptionSettings,
    @Inject(httpConfig.KEY) http: HttpSettings,
  ) {
    this.maxBytes = Math.floor(http.bodyLimitBytes / SHARE_OF_BODY);
  }

  /** @throws AppError `account-optout-disabled`, `invalid-request` */
  checkSwitch(keyMode: KeyMode, mode: AccountMode): void {
    refuseUnless(judgeModeSwitch(this.encryption, keyMode, mode));
  }

  /** @throws AppError as {@link checkKind} and {@link checkSwitch}, without the mismatch */
  checkMigration(keyMode: KeyMode, mode: AccountMode): void {
    refuseUnless(judgeMigration(this.encryption, keyMode, mode));
  }

  /** @throws AppError `encrypted-writes-disabled`, `plaintext-writes-disabled`, or a mismatch */
  checkKind(mode: AccountMode, content: Content): void {
    refuseUnless(judgeContentWrite(this.encryption.storagePolicy, mode, modeOf(content)));
  }

  /** @param others bytes that count against the same limit @throws AppError `payload-too-large` */
  checkSize(content: Content, others = 0): number {
    const text = content.t === 'encrypted' ? content.c : JSON.stringify(content.v);
    const size = Buffer.byteLength(text);
    if (size + others > this.maxBytes) {
      throw new AppError('payload-too-large');
    }
    return size;
  }
}

/** @throws AppError the refusal, if it is one */
function refuseUnless(decision: ModeDecision | ContentDecision): void {
  if (!decision.isAllowed) {
    throw decision.code === 'keyless-stays-plain'
      ? invalidRequest('mode', 'An account without a device key cannot be end-to-end encrypted.')
      : new AppError(decision.code);
  }
}
