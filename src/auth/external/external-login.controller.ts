import { Body, Controller, Delete, Get, Param, Post, Query, Req, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors.js';
import { ChangesState } from '../../common/head-requests.js';
import { Answers, Refuses, SuccessDto } from '../../common/route-docs.js';
import { decodePublicKey } from '../device-key/device-key.service.js';
import { LoginAnswerDto } from '../device-key/device-key.dto.js';
import { LoginRateGuard } from '../login-rate.guard.js';
import { Public } from '../route-access.js';
import { loginOrigin } from '../sessions/login-origin.js';
import type { Login } from '../sessions/session-issuer.js';
import type { Holder } from './external-contents.js';
import { ExternalLoginService } from './external-login.service.js';
import { ExternalStartService } from './external-start.service.js';
import { FinalizeDto, StartAnswerDto, StartLoginDto, toPort } from './external.dto.js';
import { PendingLogins } from './pending-logins.js';

@ApiTags('external providers')
@Controller('v1/auth/external/:provider')
@Public()
@UseGuards(LoginRateGuard)
export class ExternalLoginController {
  constructor(
    private readonly starts: ExternalStartService,
    private readonly logins: ExternalLoginService,
    private readonly pendings: PendingLogins,
  ) {}

  @ApiOperation({ summary: 'Begins a login: the address to open, for 10 minutes.' })
  @Get('params')
  @ChangesState()
  @Answers(StartAnswerDto)
  @Refuses('invalid-request', 'invalid-public-key', 'oauth-not-configured', 'keyless-disabled')
  @Refuses('e2ee-required', 'unsupported-provider', 'rate-limited', 'unavailable')
  async start(
    @Param('provider') provider: string,
    @Query() query: StartLoginDto,
  ): Promise<StartAnswerDto> {
    const { mode = 'keyed', loopbackPort } = query;
    const holder = toHolder(query);
    const url = await this.starts.startLogin(provider, mode, holder, toPort(loopbackPort));
    return { url: url.href };
  }

  @ApiOperation({
    summary: 'Finishes a login with a device key: signs up, logs in, or links the identity.',
  })
  @Post('finalize')
  @Answers(LoginAnswerDto)
  @Refuses('invalid-request', 'invalid-public-key', 'invalid-pending', 'invalid-proof')
  @Refuses('invalid-signature', 'challenge-required', 'challenge-expired', 'account-disabled')
  @Refuses('signup-provider-disabled', 'not-eligible', 'provider-already-linked')
  @Refuses('unsupported-provider', 'rate-limited', 'unavailable')
  finalize(
    @Param('provider') provider: string,
    @Body() body: FinalizeDto,
    @Req() request: FastifyRequest,
  ): Promise<Login> {
    return this.logins.finish(provider, body, loginOrigin(request, body.client));
  }

  @ApiOperation({ summary: 'Gives a pending login up, known or not.' })
  @ApiParam({ name: 'provider', type: String })
  @Delete('pending/:pending')
  @Answers(SuccessDto)
  @Refuses('rate-limited', 'unavailable')
  async giveUp(@Param('pending') pending: string): Promise<SuccessDto> {
    await this.pendings.drop(pending);
    return { success: true };
  }
}

/** A login without device keys is finished with the proof alone, so it has to have one. */
function toHolder({ mode, proofHash, publicKey }: StartLoginDto): Holder {
  if (proofHash === undefined && (mode === 'keyless' || publicKey === undefined)) {
    const path = 'proofHash';
    throw new AppError('invalid-request', {
      details: [{ path, message: 'Send the SHA-256 of a secret that you keep, in hex.' }],
    });
  }
  return {
    accountId: null,
    proofHash: proofHash?.toLowerCase() ?? null,
    publicKey: publicKey === undefined ? null : decodePublicKey(publicKey).toString('base64url'),
  };
}
