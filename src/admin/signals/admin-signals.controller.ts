import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Answers, Refuses } from '../../common/route-docs.js';
import { AdminSignalsDto, UnmatchedPageDto } from './admin-signals.dto.js';
import { PageQueryDto } from '../page.dto.js';
import { AdminSignalsService } from './admin-signals.service.js';

@ApiTags('operations')
@Controller('admin/v1/signals')
export class AdminSignalsController {
  constructor(private readonly signals: AdminSignalsService) {}

  @ApiOperation({
    summary: 'Lists the last signals, the stream and the directory of each provider.',
  })
  @Get()
  @Answers(AdminSignalsDto)
  list(): Promise<AdminSignalsDto> {
    return this.signals.list();
  }

  @ApiOperation({ summary: 'People of the directory who match no identity.' })
  @Get(':provider/unmatched')
  @Answers(UnmatchedPageDto)
  @Refuses('not-found')
  unmatched(
    @Param('provider') provider: string,
    @Query() query: PageQueryDto,
  ): Promise<UnmatchedPageDto> {
    return this.signals.unmatched(provider, query);
  }
}
