import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AppError } from '../common/errors.js';
import { encryptionConfig } from '../config/encryption.config.js';
import { httpConfig } from '../config/http.config.js';
import { judgeContentWrite, type Content } from '../policy/content.js';
import type { AccountMode } from '../policy/operator-policy.js';

/**
 * The settings may take this share of a request body, and all credentials together as much. The
 * whole content, a third larger when encrypted, then fits into the one request that migrates it.
 */
const SHARE_OF_BODY = 3;

/** What an account may store: the kind of content and its size. */
@Injectable()
export class ContentRules {
  /** Of the settings, and of all credentials together; in bytes, as the content is stored. */
  readonly maxBytes: number;

  constructor(
    @Inject(encryptionConfig.KEY) private readonly encryption: ConfigType<typeof encryptionConfig>,
    @Inject(httpConfig.KEY) http: ConfigType<typeof httpConfig>,
  ) {
    this.maxBytes = Math.floor(http.bodyLimitBytes / SHARE_OF_BODY);
  }

  /**
   * @throws AppError `encrypted-writes-disabled`, `plaintext-writes-disabled`,
   *   `content-mode-mismatch`
   */
  checkKind(mode: AccountMode, content: Content): void {
    const decision = judgeContentWrite(this.encryption.storagePolicy, mode, content);
    if (!decision.isAllowed) {
      throw new AppError(decision.code);
    }
  }

  /**
   * @param others bytes that count against the same limit
   * @returns the size of the content in bytes
   * @throws AppError `payload-too-large`
   */
  checkSize(content: Content, others = 0): number {
    const text = content.t === 'encrypted' ? content.c : JSON.stringify(content.v);
    const size = Buffer.byteLength(text);
    if (size + others > this.maxBytes) {
      throw new AppError('payload-too-large');
    }
    return size;
  }
}
