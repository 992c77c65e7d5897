import { Body, Controller, Get, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiBody,
  ApiConsumes,
  ApiOperation,
  ApiParam,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChangesState } from '../../common/head-requests.js';
import { Refuses } from '../../common/route-docs.js';
import { noteReturnError } from '../login-outcomes.js';
import { LoginRateGuard } from '../login-rate.guard.js';
import { Public } from '../route-access.js';
import { ExternalCallbackService } from './external-callback.service.js';
import { cancelledPage, LOOPBACK_PAGE_HEADERS, loopbackPage } from './loopback-page.js';
import { PendingLogins } from './pending-logins.js';

const FORM = 'application/x-www-form-urlencoded';
const PAGE = { 'text/html': { schema: { type: 'string' } } };

@ApiTags('external providers')
@Controller('v1/oauth/:provider')
@Public()
export class ExternalCallbackController {
  constructor(
    private readonly callbacks: ExternalCallbackService,
    private readonly pendings: PendingLogins,
  ) {}

  @ApiOperation({
    summary:
      'Where the provider sends the browser; it goes on to the client, with an answer or an error.',
  })
  @Get('callback')
  @ChangesState()
  @ApiResponse({ status: 302, description: 'To the return address.' })
  @ApiResponse({
    status: 200,
    description: 'A page that asks before the browser goes to a program on its computer.',
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
    const answer = await this.callbacks.complete(provider, search, request.ip);
    if (answer.error !== null && answer.flow === 'auth') {
      noteReturnError(request, answer.error);
    }
    if (answer.question === null) {
      await reply.header('cache-control', 'no-store').redirect(answer.location, 302);
    } else {
      await reply.status(200).headers(LOOPBACK_PAGE_HEADERS).send(loopbackPage(answer.question));
    }
  }

  @ApiOperation({
    summary: 'The form of that page: gives the login up. Nothing reaches a program.',
  })
  @Post('cancel')
  @RouteConfig({ textBody: FORM })
  @UseGuards(LoginRateGuard)
  @HttpCode(200)
  @ApiParam({ name: 'provider', type: String })
  @ApiConsumes(FORM)
  @ApiBody({ schema: { type: 'object', properties: { pending: { type: 'string' } } } })
  @ApiResponse({ status: 200, description: 'A page that says so.', content: PAGE })
  @Refuses('unsupported-media-type', 'rate-limited', 'unavailable')
  async cancel(@Body() form: unknown, @Res() reply: FastifyReply): Promise<void> {
    const pending = new URLSearchParams(typeof form === 'string' ? form : '').get('pending');
    if (pending !== null) {
      await this.pendings.drop(pending);
    }
    await reply.status(200).headers(LOOPBACK_PAGE_HEADERS).send(cancelledPage());
  }
}
