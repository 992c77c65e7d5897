import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Answers, Summary } from '../../http/route-docs.js';
import { LoginCountsDto, LoginCountsQueryDto } from './admin-logins.dto.js';
import { AdminLoginsService } from './admin-logins.service.js';

@ApiTags('operations')
@Controller('admin/v1/logins')
export class AdminLoginsController {
  constructor(private readonly logins: AdminLoginsService) {}

  @Summary('Logins and refusals of the last day or week, right to a minute.')
  @Get()
  @Answers(LoginCountsDto)
  counts(@Query() { period }: LoginCountsQueryDto): Promise<LoginCountsDto> {
    return this.logins.counts(period);
  }
}
