import { Controller, Get, Param, Redirect, Req } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ChangesState } from '../../common/head-requests.js';
import { Refuses } from '../../common/route-docs.js';
import { Public } from '../route-access.js';
import { ExternalCallbackService } from './external-callback.service.js';

@ApiTags('external providers')
@Controller('v1/oauth')
export class ExternalCallbackController {
  constructor(private readonly callbacks: ExternalCallbackService) {}

  @ApiOperation({
    summary:
      'Where the provider sends the browser; it goes on to the client, with an answer or an error.',
  })
  @Get(':provider/callback')
  @ChangesState()
  @Public()
  @Redirect()
  @ApiResponse({ status: 302, description: 'To the return address.' })
  @Refuses('unsupported-provider', 'oauth-not-configured')
  async callback(
    @Param('provider') provider: string,
    @Req() request: FastifyRequest,
  ): Promise<{ readonly url: string; readonly statusCode: 302 }> {
    const start = request.url.indexOf('?');
    const search = start === -1 ? '' : request.url.slice(start);
    const url = await this.callbacks.complete(provider, search, request.ip);
    return { url, statusCode: 302 };
  }
}
