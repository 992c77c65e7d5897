import { Body, Controller, Delete, Get, Header, Param, Post, Req, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiConsumes, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Access } from '../auth/auth.service.js';
import { LoginRateGuard } from '../auth/login-rate.guard.js';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { Caller, Public } from '../auth/route-access.js';
import { ChangesState, FORM } from '../http/request-rules.js';
import { Answers, Redirects, Refuses, SuccessDto, Summary } from '../http/route-docs.js';
import { oauthRefusal } from '../oauth/oauth-refusal.js';
import { AuthorizationService } from './authorization.service.js';
import { ProgramMetricsService } from './program-metrics.service.js';
import { ProgramApprovalService } from './program-approval.service.js';
import {
  ApprovalDto,
  AuthorizationRequestDto,
  RedirectDto,
  RevocationForm,
} from './programs.dto.js';
import { ProgramsService } from './programs.service.js';

@ApiTags('programs')
@Controller('v1/oauth')
export class AuthorizationController {
  constructor(
    private readonly authorizations: AuthorizationService,
    private readonly approvals: ProgramApprovalService,
    private readonly programs: ProgramsService,
    private readonly limits: RateLimitService,
    private readonly metrics: ProgramMetricsService,
  ) {}

  @Summary('Begins the request of a program (RFC 6749, 4.1.1), and redirects to the page.')
  @Get('authorize')
  @Public()
  @UseGuards(LoginRateGuard)
  @ChangesState()
  @Redirects('To the page, or to the program with `error`.')
  // The address of the request must not reach the program or the host of its logo.
  @Header('referrer-policy', 'no-referrer')
  async authorize(@Req() { url }: FastifyRequest): Promise<{ url: string }> {
    const [, query = ''] = url.split(/\?(.*)/s);
    return { url: await this.authorizations.begin(new URLSearchParams(query)) };
  }

  @Summary('The request of a program, as the person has to see it.')
  @Get('requests/:id')
  @Answers(AuthorizationRequestDto)
  @Refuses('request-expired', 'invalid-target')
  async show(@Caller() caller: Access, @Param('id') id: string): Promise<AuthorizationRequestDto> {
    const request = await this.approvals.show(id, caller);
    this.metrics.consents.inc({ step: 'shown' });
    return request;
  }

  @Summary(
    'Grants the request of a program.',
    'Needs a login of the last 900 seconds. The body repeats what was shown.',
  )
  @Post('requests/:id')
  @Answers(RedirectDto)
  @Refuses('fresh-login-required', 'request-expired', 'request-changed', 'invalid-scope')
  async approve(
    @Caller() caller: Access,
    @Param('id') id: string,
    @Body() approval: ApprovalDto,
    @Req() { ip }: FastifyRequest,
  ): Promise<RedirectDto> {
    const redirectTo = await this.approvals.approve(id, caller, approval, ip);
    this.metrics.consents.inc({ step: 'granted' });
    return { redirectTo };
  }

  @Summary('Refuses the request of a program.')
  @Delete('requests/:id')
  @Answers(RedirectDto)
  @Refuses('request-expired')
  async deny(@Param('id') id: string): Promise<RedirectDto> {
    const redirectTo = await this.approvals.deny(id);
    this.metrics.consents.inc({ step: 'denied' });
    return { redirectTo };
  }

  @Summary(
    'Ends the access of a program by its refresh token (RFC 7009).',
    'A token that is unknown or was revoked before is no error.',
  )
  @Post('revoke')
  @Public()
  @RouteConfig({ formBody: true, refusalFormat: oauthRefusal })
  @ApiConsumes(FORM)
  @Answers(SuccessDto)
  @Refuses('unsupported-token-type', 'unavailable')
  async revoke(@Body() form: RevocationForm, @Req() { ip }: FastifyRequest): Promise<SuccessDto> {
    await this.limits.countRefusals(ip, () => this.programs.revoke(form, ip));
    return { success: true };
  }
}
