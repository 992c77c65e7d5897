import { Controller, Get, Headers, Query, Res, StreamableFile } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Answers, Summary } from '../../http/route-docs.js';
import { AuditPageDto, AuditQueryDto } from './admin-audit.dto.js';
import { AdminAuditService } from './admin-audit.service.js';

const LINES = 'application/x-ndjson';

@ApiTags('audit')
@Controller('admin/v1/audit')
export class AdminAuditController {
  constructor(private readonly audit: AdminAuditService) {}

  @Summary(
    'The audit trail.',
    `With \`accept: ${LINES}\`: the events as lines of JSON, without pages.`,
  )
  @Get()
  @ApiProduces('application/json', LINES)
  @Answers(AuditPageDto)
  page(
    @Query() query: AuditQueryDto,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AuditPageDto> | StreamableFile {
    void reply.header('vary', 'accept');
    if (accept?.toLowerCase().startsWith(LINES) !== true) {
      return this.audit.page(query);
    }
    return new StreamableFile(this.audit.export(query), { type: LINES });
  }
}
