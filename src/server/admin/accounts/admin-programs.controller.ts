import { Body, Controller, Delete, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdParam } from '../../http/id-param.js';
import { Answers, Refuses, Summary } from '../../http/route-docs.js';
import { Admin, originOf, type AdminOrigin } from '../access/admin-caller.js';
import { ActAnswerDto, Acts, ReasonDto } from './admin-accounts.dto.js';
import { AdministeredProgramListDto } from './admin-programs.dto.js';
import { AdminProgramsService } from './admin-programs.service.js';

@ApiTags('accounts')
@Controller('admin/v1/accounts')
export class AdminProgramsController {
  constructor(private readonly programs: AdminProgramsService) {}

  @Summary('The programs that may act for the account, newest first.')
  @Get(':id/programs')
  @Answers(AdministeredProgramListDto)
  @Refuses('not-found')
  list(@IdParam() id: string): Promise<AdministeredProgramListDto> {
    return this.programs.list(id);
  }

  @Summary('Ends the access of one program at once.')
  @Delete(':id/programs/:grantId')
  @Acts()
  end(
    @Admin() caller: AdminOrigin,
    @IdParam() id: string,
    @IdParam('grantId') grantId: string,
    @Body() { reason }: ReasonDto,
  ): Promise<ActAnswerDto> {
    return this.programs.end(id, grantId, originOf(caller, reason));
  }
}
