import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChangesState } from '../../http/request-rules.js';
import { Answers, Described, Refuses, SuccessDto, Summary } from '../../http/route-docs.js';
import {
  Admin,
  ADMIN_ROLES,
  OpenToAll,
  type AdminCaller,
  type AdminOrigin,
  type AdminRole,
} from './admin-caller.js';
import { AdminLoginService } from './admin-login.service.js';
import { AdminSessionsService } from './admin-sessions.service.js';

class AdminCallerDto {
  @Described('The name in the audit trail.') name!: string;
  @ApiProperty({ enum: ADMIN_ROLES }) role!: AdminRole;
  @ApiProperty({ enum: ['token', 'certificate', 'login'] }) method!: AdminCaller['method'];
}

@ApiTags('access')
@Controller('admin/v1')
export class AdminAccessController {
  constructor(
    private readonly logins: AdminLoginService,
    private readonly sessions: AdminSessionsService,
  ) {}

  @Summary('The caller: name and role.')
  @Get('me')
  @Answers(AdminCallerDto)
  me(@Admin() { name, role, method }: AdminOrigin): AdminCallerDto {
    return { name, role, method };
  }

  @Summary('Redirects a browser to the provider of administrators.')
  @Get('login')
  @OpenToAll()
  @ChangesState()
  @ApiResponse({ status: 302, description: 'To the provider.' })
  @Refuses('not-found', 'unavailable')
  async login(@Res() reply: FastifyReply): Promise<void> {
    await reply.redirect(await this.logins.start(reply), 302);
  }

  @Summary('The redirect address of the provider; begins a session.')
  @Get('login/callback')
  @OpenToAll()
  @ChangesState()
  @ApiResponse({ status: 302, description: 'To the console.' })
  @Refuses('not-found', 'invalid-pending', 'not-eligible', 'unavailable')
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.logins.finish(request, reply);
    // Relative, so that it works behind a proxy that strips a prefix.
    await reply.redirect('../../../', 302);
  }

  @Summary('Ends the session of this browser.')
  @Post('logout')
  @Answers(SuccessDto)
  async logout(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SuccessDto> {
    await this.sessions.end(request, reply);
    return { success: true };
  }
}
