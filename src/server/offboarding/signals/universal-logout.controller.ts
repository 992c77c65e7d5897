import { Body, Controller, Headers, HttpCode, Ip, Param, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiBody, ApiTags } from '@nestjs/swagger';
import { RateLimitService } from '../../auth/rate-limit.service.js';
import { Public } from '../../auth/route-access.js';
import { Refuses, Summary } from '../../http/route-docs.js';
import { UniversalLogoutService } from './universal-logout.service.js';

const BODY = {
  type: 'object',
  required: ['sub_id'],
  properties: {
    sub_id: {
      type: 'object',
      description: 'Subject identifier (RFC 9493) of the format email, iss_sub or opaque.',
      required: ['format'],
      properties: { format: { type: 'string', enum: ['email', 'iss_sub', 'opaque'] } },
    },
  },
};

@ApiTags('provider signals')
@Controller('v1/signals')
@Public()
export class UniversalLogoutController {
  constructor(
    private readonly logouts: UniversalLogoutService,
    private readonly limits: RateLimitService,
  ) {}

  @Summary(
    'A provider ends all sessions of a person (Global Token Revocation, universal logout).',
    'The token is a signed JWT of the type `global-token-revocation+jwt` with this address as its audience. Each is accepted once.',
  )
  @Post(':provider/global-token-revocation')
  // A provider signs out many people at once from one address: only refusals are counted.
  @RouteConfig({ rateLimit: false })
  @ApiBearerAuth()
  @ApiBody({ schema: BODY })
  @HttpCode(204)
  @Refuses(
    'invalid-request',
    'missing-token',
    'invalid-token',
    'insufficient-scope',
    'not-found',
    'sessions-remain',
    'rate-limited',
    'unavailable',
  )
  async signOut(
    @Param('provider') provider: string,
    @Headers('authorization') authorization: string | undefined,
    @Body() body: { readonly sub_id?: unknown } | undefined,
    @Ip() address: string,
  ): Promise<void> {
    await this.limits.countRefusals(address, () =>
      this.logouts.signOut(provider, authorization, body?.sub_id),
    );
  }
}
