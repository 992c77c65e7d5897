import { Injectable, type OnModuleInit } from '@nestjs/common';
import { RateLimitService } from '../auth/rate-limit.service.js';
import {
  AUTHORIZATION_CODE,
  REFRESH_TOKEN,
  type TokenDto,
  type TokenForm,
} from '../oauth/oauth.dto.js';
import { TokenAnswerService, type TokenCaller } from '../oauth/token-answer.service.js';
import { ProgramMetricsService } from './program-metrics.service.js';
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
    private readonly metrics: ProgramMetricsService,
  ) {}

  onModuleInit(): void {
    this.answers.add(AUTHORIZATION_CODE, (form, caller) =>
      this.metrics.countToken('code', () =>
        this.limits.countRefusals(caller.address, () => this.tokens.ofCode(form, caller)),
      ),
    );
    this.answers.add(REFRESH_TOKEN, (form, caller) =>
      this.metrics.countToken('refresh', () =>
        this.limits.countRefusals(caller.address, () => this.refresh(form, caller)),
      ),
    );
  }

  private async refresh(form: TokenForm, caller: TokenCaller): Promise<TokenDto> {
    const answer = await this.tokens.ofRefreshToken(form, caller);
    const { grantId = '' } = readRefreshToken(form.refresh_token ?? '') ?? {};
    await this.limits.count('perAccount', grantId);
    return answer;
  }
}
