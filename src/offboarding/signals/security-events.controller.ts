import { Body, Controller, Headers, HttpCode, Ip, Param, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiBody, ApiConsumes, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RateLimitService } from '../../auth/rate-limit.service.js';
import { Public } from '../../auth/route-access.js';
import { SET_TYPE } from '../../common/http/request-rules.js';
import { Refuses } from '../../common/route-docs.js';
import { SetError } from '../../providers/signals/security-event-tokens.js';
import { EventIntakeService } from './event-intake.service.js';
import { SetRefusal, setRefusal } from './set-refusal.js';

@ApiTags('provider signals')
@Controller('v1/signals')
@Public()
export class SecurityEventsController {
  constructor(
    private readonly intake: EventIntakeService,
    private readonly limits: RateLimitService,
  ) {}

  @ApiOperation({
    summary: 'A provider pushes a security event (OpenID Shared Signals Framework 1.0, RFC 8935).',
    description: 'Refusals have the members `err` and `description` of RFC 8935, 2.3 too.',
  })
  @Post(':provider')
  // Many events come from one address: only refusals are counted.
  @RouteConfig({ textBody: SET_TYPE, refusalFormat: setRefusal, rateLimit: false })
  @ApiConsumes(SET_TYPE)
  @ApiBody({ schema: { type: 'string', description: 'A security event token (RFC 8417).' } })
  @ApiBearerAuth()
  @HttpCode(202)
  @Refuses('invalid-token', 'not-found', 'rate-limited', 'unavailable')
  async receive(
    @Param('provider') provider: string,
    @Headers('authorization') authorization: string | undefined,
    @Body() token: string,
    @Ip() address: string,
  ): Promise<void> {
    await this.limits.countRefusals(address, () =>
      this.intake.acceptPushed(provider, authorization, token).catch((error: unknown) => {
        throw error instanceof SetError ? new SetRefusal(error) : error;
      }),
    );
  }
}
