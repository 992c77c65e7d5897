import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Answers } from '../../http/route-docs.js';
import { AdminProvidersDto, OverviewDto } from './admin-providers.dto.js';
import { AdminProvidersService } from './admin-providers.service.js';

@ApiTags('operations')
@Controller('admin/v1')
export class AdminProvidersController {
  constructor(private readonly providers: AdminProvidersService) {}

  @ApiOperation({ summary: 'Accounts and requests of programs, by state.' })
  @Get('overview')
  @Answers(OverviewDto)
  overview(): Promise<OverviewDto> {
    return this.providers.overview();
  }

  @ApiOperation({ summary: 'The identity providers: whether they answer, and their re-checks.' })
  @Get('providers')
  @Answers(AdminProvidersDto)
  list(): Promise<AdminProvidersDto> {
    return this.providers.list();
  }
}
