import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdParam } from '../../http/id-param.js';
import { Answers, Refuses, SuccessDto, Summary } from '../../http/route-docs.js';
import type { Access } from '../auth.service.js';
import { Caller, OpenToAnyToken } from '../route-access.js';
import { RenameSessionDto, SessionListDto } from './sessions.dto.js';
import { SessionsService } from './sessions.service.js';

const DONE: SuccessDto = { success: true };

@ApiTags('sessions')
@Controller('v1')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Summary("The account's live sessions, newest first.")
  @Get('account/sessions')
  @Answers(SessionListDto)
  async list(@Caller() caller: Access): Promise<SessionListDto> {
    return { sessions: await this.sessions.list(caller) };
  }

  @Summary('Names a session of the account.')
  @Patch('account/sessions/:id')
  @Answers(SuccessDto)
  @Refuses('not-found')
  async rename(
    @Caller() { accountId }: Access,
    @IdParam() id: string,
    @Body() { name }: RenameSessionDto,
  ): Promise<SuccessDto> {
    await this.sessions.rename(accountId, id, name);
    return DONE;
  }

  @Summary('Ends one session at once and everywhere, known or not.')
  @Delete('account/sessions/:id')
  @Answers(SuccessDto)
  async end(@Caller() { accountId }: Access, @Param('id') id: string): Promise<SuccessDto> {
    await this.sessions.end(accountId, id);
    return DONE;
  }

  @Summary('Ends this session, at once and everywhere.')
  @Post('auth/logout')
  @OpenToAnyToken()
  @Answers(SuccessDto)
  async logOut(@Caller() { accountId, sessionId }: Access): Promise<SuccessDto> {
    await this.sessions.end(accountId, sessionId, true);
    return DONE;
  }

  @Summary('Ends every session of the account.')
  @Post('auth/logout-everywhere')
  @OpenToAnyToken()
  @Answers(SuccessDto)
  async logOutEverywhere(@Caller() { accountId }: Access): Promise<SuccessDto> {
    await this.sessions.endAll(accountId);
    return DONE;
  }
}
