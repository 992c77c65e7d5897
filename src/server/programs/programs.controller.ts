import { Body, Controller, Delete, Get, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Access } from '../auth/auth.service.js';
import { Caller, OpenToAnyToken } from '../auth/route-access.js';
import { IdParam } from '../http/id-param.js';
import { Answers, Refuses, SuccessDto, Summary } from '../http/route-docs.js';
import { ProgramMetricsService } from './program-metrics.service.js';
import { ProgramApprovalService } from './program-approval.service.js';
import { GrantListDto, NewProgramFileDto, ProgramFileDto } from './programs.dto.js';
import { ProgramsService } from './programs.service.js';

@ApiTags('programs')
@Controller('v1/account/programs')
export class ProgramsController {
  constructor(
    private readonly programs: ProgramsService,
    private readonly approvals: ProgramApprovalService,
    private readonly metrics: ProgramMetricsService,
  ) {}

  @Summary('The programs that may act for the account, newest first.')
  @Get()
  @OpenToAnyToken()
  @Answers(GrantListDto)
  async list(@Caller() { accountId }: Access): Promise<GrantListDto> {
    return { programs: await this.programs.list(accountId) };
  }

  @Summary(
    'Grants a program access by a refresh token that the person stores in a file.',
    'Needs a login of the last 900 seconds. The token is for the token endpoint, as the client id of the answer.',
  )
  @Post()
  @Answers(ProgramFileDto)
  @Refuses('fresh-login-required', 'invalid-target', 'invalid-scope')
  async add(
    @Caller() caller: Access,
    @Body() file: NewProgramFileDto,
    @Req() { ip }: FastifyRequest,
  ): Promise<ProgramFileDto> {
    const added = await this.approvals.addFile(caller, file, ip);
    this.metrics.consents.inc({ step: 'granted' });
    return added;
  }

  @Summary('Ends the access of one program at once and everywhere.')
  @Delete(':id')
  @OpenToAnyToken()
  @Answers(SuccessDto)
  @Refuses('not-found')
  async end(@Caller() { accountId }: Access, @IdParam() id: string): Promise<SuccessDto> {
    await this.programs.end(accountId, id);
    return { success: true };
  }
}
