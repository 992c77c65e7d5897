import { Body, Controller, Get, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiConsumes, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChangesState, FORM } from '../../http/request-rules.js';
import { orRefuse } from '../../../common/errors.js';
import { Answers, Refuses, Summary } from '../../http/route-docs.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import { LoginOutcomesService } from '../login-outcomes.service.js';
import { LoginRateGuard } from '../../auth/login-rate.guard.js';
import { Public } from '../../auth/route-access.js';
import { cancelledPage, LOOPBACK_PAGE_HEADERS, loopbackPage } from './loopback-page.js';
import { KeySetDto } from './provider-login.dto.js';
import { PendingLoginsService } from './pending-logins.service.js';
import { ProviderCallbackService } from './provider-callback.service.js';

const PAGE = { 'text/html': { schema: { type: 'string' } } };

@ApiTags('external providers')
@Controller('v1/oauth/:provider')
@Public()
export class ProviderCallbackController {
  constructor(
    private readonly callbacks: ProviderCallbackService,
    private readonly outcomes: LoginOutcomesService,
    private readonly pendings: PendingLoginsService,
    private readonly providers: ProviderRegistry,
  ) {}

  @Summary('The redirect URI of the provider; redirects to the client with an answer or an error.')
  @Get('callback')
  @ChangesState()
  @ApiResponse({ status: 302, description: 'To the return address.' })
  @ApiResponse({
    status: 200,
    description: 'A page that asks before it redirects to a program on the computer.',
    content: PAGE,
  })
  @Refuses('unsupported-provider', 'oauth-not-configured')
  async callback(
    @Param('provider') provider: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const start = request.url.indexOf('?');
    const search = start === -1 ? '' : request.url.slice(start);
    const answer = await this.callbacks.handleCallback(provider, search, request.ip);
    if (answer.error !== null && answer.flow === 'auth') {
      this.outcomes.refuse(provider, answer.error, answer.detail);
    }
    if (answer.question === null) {
      await reply.redirect(answer.location, 302);
    } else {
      await reply.status(200).headers(LOOPBACK_PAGE_HEADERS).send(loopbackPage(answer.question));
    }
  }

  @Summary(
    'The public keys with which this server signs its client assertions (RFC 7523).',
    'For the registration of the client at the provider (`jwks_uri`).',
  )
  @Get('jwks')
  @Answers(KeySetDto)
  @Refuses('not-found')
  async keys(@Param('provider') provider: string): Promise<KeySetDto> {
    const keys = orRefuse(await this.providers.clientKeys(provider), 'not-found');
    return { keys };
  }

  @Summary('Drops a login at the wish of the person; sends nothing to a program.')
  @Post('cancel')
  @RouteConfig({ textBody: FORM })
  @UseGuards(LoginRateGuard)
  @HttpCode(200)
  @ApiParam({ name: 'provider', type: String })
  @ApiConsumes(FORM)
  @ApiBody({ schema: { type: 'object', properties: { pending: { type: 'string' } } } })
  @ApiResponse({ status: 200, description: 'A page that says so.', content: PAGE })
  @Refuses('unavailable')
  async cancel(@Body() form: unknown, @Res() reply: FastifyReply): Promise<void> {
    const pending = new URLSearchParams(typeof form === 'string' ? form : '').get('pending');
    if (pending !== null) {
      await this.pendings.drop(pending);
    }
    await reply.status(200).headers(LOOPBACK_PAGE_HEADERS).send(cancelledPage());
  }
}
