import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Answers, Refuses, Summary } from '../../http/route-docs.js';
import { Admin, originOf, type AdminOrigin } from '../access/admin-caller.js';
import { ActAnswerDto, Acts } from '../accounts/admin-accounts.dto.js';
import { PageQueryDto } from '../page.dto.js';
import { AdminRefusalsService } from './admin-refusals.service.js';
import { AdminSignalsDto, RefusedPersonDto, UnmatchedPageDto } from './admin-signals.dto.js';
import { AdminSignalsService } from './admin-signals.service.js';

@ApiTags('operations')
@Controller('admin/v1/signals')
export class AdminSignalsController {
  constructor(
    private readonly signals: AdminSignalsService,
    private readonly refusals: AdminRefusalsService,
  ) {}

  @Summary('Lists the last signals, the stream and the directory of each provider.')
  @Get()
  @Answers(AdminSignalsDto)
  list(): Promise<AdminSignalsDto> {
    return this.signals.list();
  }

  @Summary('People of the directory who match no identity.')
  @Get(':provider/unmatched')
  @Answers(UnmatchedPageDto)
  @Refuses('not-found')
  unmatched(
    @Param('provider') provider: string,
    @Query() query: PageQueryDto,
  ): Promise<UnmatchedPageDto> {
    return this.signals.unmatched(provider, query);
  }

  @Summary(
    'Ends what the directory or an event refuses a person without an account.',
    'The rules decide about the next login. A later request or event refuses the person again.',
  )
  @Post(':provider/end-refusal')
  @Acts()
  endRefusal(
    @Admin() caller: AdminOrigin,
    @Param('provider') provider: string,
    @Body() { name, reason }: RefusedPersonDto,
  ): Promise<ActAnswerDto> {
    return this.refusals.end(provider, name, originOf(caller, reason));
  }
}
