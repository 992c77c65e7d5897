import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Answers, Summary } from '../../http/route-docs.js';
import { AdminProvidersDto, OverviewDto } from './admin-providers.dto.js';
import { AdminProvidersService } from './admin-providers.service.js';

@ApiTags('operations')
@Controller('admin/v1')
export class AdminProvidersController {
  constructor(private readonly providers: AdminProvidersService) {}

  @Summary('Accounts and requests of programs, by state.')
  @Get('overview')
  @Answers(OverviewDto)
  overview(): Promise<OverviewDto> {
    return this.providers.overview();
  }

  @Summary('The identity providers: whether they answer, and their re-checks.')
  @Get('providers')
  @Answers(AdminProvidersDto)
  list(): Promise<AdminProvidersDto> {
    return this.providers.list();
  }
}
