import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { sha256 } from '../../../common/sha256.js';
import { adminConfig, type AdminSettings } from '../../config/admin.config.js';
import type { AdminCaller } from './admin-caller.js';
import { adminTokensFile, loadAdminTokens, type AdminToken } from './admin-tokens-file.js';

const LOOK_EVERY_MS = 2000;

/** The tokens of ADMIN_TOKENS_FILE. */
@Injectable()
export class AdminTokensService implements OnModuleInit {
  private readonly logger = new Logger('Administration');
  private readonly file: ReturnType<typeof adminTokensFile>;
  private tokens: readonly AdminToken[] = [];

  constructor(@Inject(adminConfig.KEY) admin: AdminSettings) {
    this.file = adminTokensFile(admin, (reason) =>
      this.logger.error(`The changed ADMIN_TOKENS_FILE is not used: ${reason}`),
    );
  }

  /** @throws ConfigurationError when the file cannot be read or is invalid */
  async onModuleInit(): Promise<void> {
    this.tokens = await loadAdminTokens(this.file);
  }

  /** Returns the caller with this token; null for an unknown one. */
  callerWith(token: string): AdminCaller | null {
    const digest = sha256(token);
    const found = this.tokens.find((one) => timingSafeEqual(one.digest, digest));
    return found === undefined ? null : { name: found.name, role: found.role, method: 'token' };
  }

  @Interval(LOOK_EVERY_MS)
  async poll(): Promise<void> {
    const tokens = (await this.file?.poll()) ?? null;
    if (tokens !== null) {
      this.tokens = tokens;
      this.logger.log('ADMIN_TOKENS_FILE has changed and is in use.');
    }
  }
}
