import { Controller, Delete, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Access } from '../auth/auth.service.js';
import { Caller, OpenToAnyToken } from '../auth/route-access.js';
import { NeedsFreshLogin } from '../auth/sessions/fresh-login.guard.js';
import { Answers, SuccessDto, Summary } from '../http/route-docs.js';
import { AccountService } from './account.service.js';
import { AccountProfileDto } from './account.dto.js';

@ApiTags('account')
@Controller('v1/account')
export class AccountController {
  constructor(private readonly accounts: AccountService) {}

  @Summary(
    'The account and its identities.',
    'Open to every valid token, whatever the provider policy requires.',
  )
  @Get('profile')
  @OpenToAnyToken()
  @Answers(AccountProfileDto)
  profile(@Caller() { accountId }: Access): Promise<AccountProfileDto> {
    return this.accounts.profile(accountId);
  }

  @Summary('Deletes the account with everything it stores, and revokes its tokens.')
  @Delete()
  @NeedsFreshLogin()
  @Answers(SuccessDto)
  async remove(@Caller() caller: Access): Promise<SuccessDto> {
    await this.accounts.remove(caller);
    return { success: true };
  }
}
