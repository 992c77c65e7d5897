import { Body, Controller, Param, Post, Req, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Answers, Refuses } from '../../common/route-docs.js';
import { LoginAnswerDto } from '../device-key/device-key.dto.js';
import { LoginRateGuard } from '../login-rate.guard.js';
import { Public } from '../route-access.js';
import { loginOrigin } from '../sessions/login-origin.js';
import type { Login } from '../sessions/session-issuer.js';
import { ExternalKeylessService } from './external-keyless.service.js';
import { FinalizeKeylessDto } from './external-keyless.dto.js';

@ApiTags('external providers')
@Controller('v1/auth/external/:provider')
@Public()
@UseGuards(LoginRateGuard)
export class ExternalKeylessController {
  constructor(private readonly logins: ExternalKeylessService) {}

  @ApiOperation({
    summary:
      'Finishes a login without a device key: logs in, or makes an account that the server can read.',
  })
  @Post('finalize-keyless')
  @Answers(LoginAnswerDto)
  @Refuses('invalid-request', 'invalid-pending', 'invalid-proof', 'account-disabled')
  @Refuses('keyless-disabled', 'e2ee-required', 'signup-provider-disabled', 'not-eligible')
  @Refuses('restore-required', 'unsupported-provider', 'rate-limited', 'unavailable')
  finalize(
    @Param('provider') provider: string,
    @Body() body: FinalizeKeylessDto,
    @Req() request: FastifyRequest,
  ): Promise<Login> {
    return this.logins.finish(provider, body, loginOrigin(request, body.client));
  }
}
