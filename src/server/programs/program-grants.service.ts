import { Injectable, type OnModuleInit } from '@nestjs/common';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { AUTHORIZATION_CODE, REFRESH_TOKEN } from '../oauth/oauth.dto.js';
import { TokenAnswerService } from '../oauth/token-answer.service.js';
import { ProgramTokensService } from './program-tokens.service.js';
import { readRefreshToken } from './refresh-token.js';

/**
 * Adds the grant types of programs to the token endpoint. Successes count against the grant and
 * refusals against the address: nothing counts against a client id, which strangers share.
 */
@Injectable()
export class ProgramGrantsService implements OnModuleInit {
  constructor(
    private readonly answers: TokenAnswerService,
    private readonly tokens: ProgramTokensService,
    private readonly limits: RateLimitService,
  ) {}

  onModuleInit(): void {
    this.answers.add(AUTHORIZATION_CODE, (form, caller) =>
      this.limits.countRefusals(caller.address, () => this.tokens.ofCode(form, caller)),
    );
    this.answers.add(REFRESH_TOKEN, (form, caller) =>
      this.limits.countRefusals(caller.address, async () => {
        const answer = await this.tokens.ofRefreshToken(form, caller);
        const { grantId = '' } = readRefreshToken(form.refresh_token ?? '') ?? {};
        await this.limits.count('perAccount', grantId);
        return answer;
      }),
    );
  }
}
