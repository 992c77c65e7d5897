import { Body, Controller, Headers, HttpCode, Ip, Param, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiBody, ApiConsumes, ApiTags } from '@nestjs/swagger';
import { RateLimitService } from '../../auth/rate-limit.service.js';
import { Public } from '../../auth/route-access.js';
import { SET_TYPE, type FormattedRefusal } from '../../http/request-rules.js';
import { Refuses, Summary } from '../../http/route-docs.js';
import { SetError } from '../../providers/signals/security-event-tokens.js';
import { EventIntakeService } from './event-intake.service.js';
import { AppError, ERRORS, type ErrorCode } from '../../../common/errors.js';

@ApiTags('provider signals')
@Controller('v1/signals')
@Public()
export class SecurityEventsController {
  constructor(
    private readonly intake: EventIntakeService,
    private readonly limits: RateLimitService,
  ) {}

  @Summary(
    'A provider pushes a security event (OpenID Shared Signals Framework 1.0, RFC 8935).',
    'Refusals have the members `err` and `description` of RFC 8935, 2.3 too.',
  )
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

/** A refusal with the error of RFC 8935, 2.4. */
class SetRefusal extends AppError {
  constructor(readonly error: SetError) {
    super(error.failure === 'authentication_failed' ? 'invalid-token' : 'invalid-request');
  }
}

const FAILURES: Partial<Record<ErrorCode, string>> = {
  'not-found': 'access_denied',
  'rate-limited': 'access_denied',
};

/** Adds the members of RFC 8935, 2.3 to those of every refusal. */
function setRefusal(refusal: AppError, requestId: string): FormattedRefusal {
  const isSet = refusal instanceof SetRefusal;
  const err = isSet ? refusal.error.failure : (FAILURES[refusal.code] ?? 'invalid_request');
  const description = isSet ? refusal.error.message : refusal.message;
  const { status } = ERRORS[refusal.code];
  return {
    status,
    headers: {
      'content-language': 'en',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    },
    body: JSON.stringify({ ...refusal.toBody(requestId), err, description }),
  };
}
