import { Controller, Delete, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Access } from '../auth/auth.service.js';
import { Caller, OpenToAnyToken } from '../auth/route-access.js';
import { NeedsFreshLogin } from '../auth/sessions/fresh-login.guard.js';
import { AppError } from '../common/errors.js';
import { Answers, Refuses, SuccessDto } from '../common/route-docs.js';
import { AccountRepository } from '../storage/account.repository.js';
import { AccountRemovalService } from './account-removal.service.js';
import { AccountProfileDto } from './account.dto.js';

@ApiTags('account')
@Controller('v1/account')
export class AccountController {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly removals: AccountRemovalService,
  ) {}

  @ApiOperation({
    summary: 'The account and its identities.',
    description: 'Open to a good token whatever the provider policy says.',
  })
  @Get('profile')
  @OpenToAnyToken()
  @Answers(AccountProfileDto)
  @Refuses('missing-token', 'invalid-token', 'token-expired', 'token-revoked', 'account-disabled')
  async profile(@Caller() { accountId }: Access): Promise<AccountProfileDto> {
    const profile = await this.accounts.profile(accountId);
    if (profile === null) {
      throw new AppError('token-revoked');
    }
    return profile;
  }

  @ApiOperation({
    summary:
      'Ends the account: everything that hangs on it is removed, and its tokens are revoked.',
  })
  @Delete()
  @ApiBearerAuth()
  @NeedsFreshLogin()
  @Answers(SuccessDto)
  @Refuses('missing-token', 'invalid-token', 'provider-required', 'not-eligible', 'unavailable')
  async remove(@Caller() { accountId }: Access): Promise<SuccessDto> {
    await this.removals.remove(accountId);
    return { success: true };
  }
}
