import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Answers, Summary } from '../../http/route-docs.js';
import { AdminResourceServersDto } from './admin-resource-servers.dto.js';
import { AdminResourceServersService } from './admin-resource-servers.service.js';

@ApiTags('operations')
@Controller('admin/v1/resource-servers')
export class AdminResourceServersController {
  constructor(private readonly resourceServers: AdminResourceServersService) {}

  @Summary('The backends that accept tokens of this server, and its keys.')
  @Get()
  @Answers(AdminResourceServersDto)
  list(): Promise<AdminResourceServersDto> {
    return this.resourceServers.list();
  }
}
