import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdParam } from '../../http/id-param.js';
import { Answers, Refuses, Summary } from '../../http/route-docs.js';
import { Admin, originOf, type AdminOrigin } from '../access/admin-caller.js';
import {
  AccountPageDto,
  AccountQueryDto,
  ActAnswerDto,
  Acts,
  AdministeredAccountDto,
  ReasonDto,
} from './admin-accounts.dto.js';
import { AdminActsService } from './admin-acts.service.js';
import { AdminAccountsService } from './admin-accounts.service.js';

@ApiTags('accounts')
@Controller('admin/v1/accounts')
export class AdminAccountsController {
  constructor(
    private readonly accounts: AdminAccountsService,
    private readonly acts: AdminActsService,
  ) {}

  @Summary('Accounts, page by page, the last seen ones first.')
  @Get()
  @Answers(AccountPageDto)
  search(@Query() query: AccountQueryDto): Promise<AccountPageDto> {
    return this.accounts.search(query);
  }

  @Summary('One account, with its sessions and why it is served or refused.')
  @Get(':id')
  @Answers(AdministeredAccountDto)
  @Refuses('not-found')
  find(@IdParam() id: string): Promise<AdministeredAccountDto> {
    return this.accounts.find(id);
  }

  @Summary('Refuses the account until it is enabled again; its sessions end at once.')
  @Post(':id/disable')
  @Acts()
  disable(
    @Admin() caller: AdminOrigin,
    @IdParam() id: string,
    @Body() { reason }: ReasonDto,
  ): Promise<ActAnswerDto> {
    return this.acts.act('account-disabled', id, originOf(caller, reason));
  }

  @Summary('Admits a disabled account again.')
  @Post(':id/enable')
  @Acts()
  enable(
    @Admin() caller: AdminOrigin,
    @IdParam() id: string,
    @Body() { reason }: ReasonDto,
  ): Promise<ActAnswerDto> {
    return this.acts.act('account-enabled', id, originOf(caller, reason));
  }

  @Summary('Ends every session of the account at once.')
  @Post(':id/revoke')
  @Acts()
  revoke(
    @Admin() caller: AdminOrigin,
    @IdParam() id: string,
    @Body() { reason }: ReasonDto,
  ): Promise<ActAnswerDto> {
    return this.acts.act('all-tokens-revoked', id, originOf(caller, reason));
  }

  @Summary('Checks the identities of the account with their providers now.')
  @Post(':id/recheck')
  @Acts()
  recheck(
    @Admin() caller: AdminOrigin,
    @IdParam() id: string,
    @Body() { reason }: ReasonDto,
  ): Promise<ActAnswerDto> {
    return this.acts.act('recheck-requested', id, originOf(caller, reason));
  }

  @Summary('Deletes the account with everything it stores.')
  @Delete(':id')
  @Acts()
  remove(
    @Admin() caller: AdminOrigin,
    @IdParam() id: string,
    @Body() { reason }: ReasonDto,
  ): Promise<ActAnswerDto> {
    return this.acts.act('account-deleted', id, originOf(caller, reason));
  }

  @Summary('Ends one session of the account at once.')
  @Delete(':id/sessions/:sessionId')
  @Acts()
  endSession(
    @Admin() caller: AdminOrigin,
    @IdParam() id: string,
    @IdParam('sessionId') sessionId: string,
    @Body() { reason }: ReasonDto,
  ): Promise<ActAnswerDto> {
    return this.acts.endSession(id, sessionId, originOf(caller, reason));
  }
}
