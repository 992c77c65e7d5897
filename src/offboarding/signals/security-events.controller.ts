import { Body, Controller, Headers, HttpCode, Ip, Param, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiBody, ApiConsumes, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RateLimitService } from '../../auth/rate-limit.service.js';
import { Public } from '../../auth/route-access.js';
import { SET_TYPE } from '../../common/http/request-rules.js';
import { Refuses } from '../../common/route-docs.js';
import { Clock } from '../../common/runtime/clock.js';
import { MetricsService } from '../../metrics/metrics.service.js';
import { SetError } from '../../providers/oidc/security-event-tokens.js';
import { ProviderSignalRepository } from '../../storage/repositories/signals/provider-signal.repository.js';
import { SetRefusal, setRefusal } from './set-refusal.js';
import { SecurityEventsService } from './security-events.service.js';

@ApiTags('provider signals')
@Controller('v1/signals')
@Public()
export class SecurityEventsController {
  constructor(
    private readonly signals: SecurityEventsService,
    private readonly received: ProviderSignalRepository,
    private readonly limits: RateLimitService,
    private readonly metrics: MetricsService,
    private readonly clock: Clock,
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
    const now = this.clock.now();
    const { kind, outcome, at } = await this.limits.countRefusals(address, () =>
      this.signals.receive(provider, authorization, token, now).catch((error: unknown) => {
        if (!(error instanceof SetError)) {
          throw error;
        }
        this.metrics.sharedSignals.inc({ provider, kind: 'refused', outcome: error.failure });
        throw new SetRefusal(error);
      }),
    );
    this.metrics.sharedSignals.inc({ provider, kind, outcome });
    this.metrics.sharedSignalsLag.observe({ provider }, Math.max(now - at, 0) / 1000);
    const receivedAt = new Date(now);
    await this.received.note({ provider, kind: 'shared-signals', receivedAt });
  }
}
