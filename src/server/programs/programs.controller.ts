import { Controller, Delete, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Access } from '../auth/auth.service.js';
import { Caller, OpenToAnyToken } from '../auth/route-access.js';
import { IdParam } from '../http/id-param.js';
import { Answers, Refuses, SuccessDto } from '../http/route-docs.js';
import { GrantListDto } from './programs.dto.js';
import { ProgramsService } from './programs.service.js';

@ApiTags('programs')
@Controller('v1/account/programs')
export class ProgramsController {
  constructor(private readonly programs: ProgramsService) {}

  @ApiOperation({ summary: 'The programs that may act for the account, newest first.' })
  @Get()
  @OpenToAnyToken()
  @Answers(GrantListDto)
  async list(@Caller() { accountId }: Access): Promise<GrantListDto> {
    return { programs: await this.programs.list(accountId) };
  }

  @ApiOperation({ summary: 'Ends the access of one program at once and everywhere.' })
  @Delete(':id')
  @OpenToAnyToken()
  @Answers(SuccessDto)
  @Refuses('not-found')
  async end(@Caller() { accountId }: Access, @IdParam() id: string): Promise<SuccessDto> {
    await this.programs.end(accountId, id);
    return { success: true };
  }
}
