import { Body, Controller, Delete, Get, Param, Post, Query, Req, UseGuards } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../../../common/errors.js';
import { ChangesState } from '../../http/request-rules.js';
import { Answers, Refuses, SuccessDto, Summary } from '../../http/route-docs.js';
import { decodePublicKey } from '../device-key/device-key.service.js';
import { LoginAnswerDto } from '../device-key/device-key.dto.js';
import { LoginMethod } from '../login-outcomes.service.js';
import { LoginRateGuard } from '../../auth/login-rate.guard.js';
import { Public } from '../../auth/route-access.js';
import { loginOrigin } from '../../auth/sessions/login-origin.js';
import type { Login } from '../../auth/sessions/session-issuer.service.js';
import { checkFlowOwner, PendingLoginsService, type FlowOwner } from './pending-logins.service.js';
import {
  FinalizeDto,
  FinalizeKeylessDto,
  PendingIdentityDto,
  PendingProofDto,
  StartAnswerDto,
  StartLoginDto,
} from './provider-login.dto.js';
import { ProviderKeylessService } from './provider-keyless.service.js';
import { ProviderLoginService } from './provider-login.service.js';
import { ProviderStartService } from './provider-start.service.js';

@ApiTags('external providers')
@Controller('v1/auth/external/:provider')
@Public()
@UseGuards(LoginRateGuard)
export class ProviderLoginController {
  constructor(
    private readonly starts: ProviderStartService,
    private readonly logins: ProviderLoginService,
    private readonly keyless: ProviderKeylessService,
    private readonly pendings: PendingLoginsService,
  ) {}

  @Summary('Begins a login: the address to open, for 10 minutes.')
  @Get('params')
  @ChangesState()
  @Answers(StartAnswerDto)
  @Refuses(
    'invalid-request',
    'invalid-public-key',
    'oauth-not-configured',
    'key-challenge-disabled',
    'keyless-disabled',
    'e2ee-required',
    'unsupported-provider',
    'unavailable',
  )
  async start(
    @Param('provider') provider: string,
    @Query() query: StartLoginDto,
  ): Promise<StartAnswerDto> {
    const { mode = 'keyed', loopbackPort = null } = query;
    const url = await this.starts.startLogin(provider, mode, toFlowOwner(query), loopbackPort);
    return { url: url.href };
  }

  @Summary('Finishes a login with a device key: signs up, signs in, or links the identity.')
  @Post('finalize')
  @LoginMethod(':provider')
  @Answers(LoginAnswerDto)
  @Refuses(
    'key-challenge-disabled',
    'invalid-public-key',
    'invalid-pending',
    'invalid-proof',
    'invalid-signature',
    'challenge-required',
    'challenge-expired',
    'account-disabled',
    'not-found',
    'signup-provider-disabled',
    'not-eligible',
    'provider-required',
    'provider-already-linked',
    'unsupported-provider',
    'unavailable',
  )
  finalize(
    @Param('provider') provider: string,
    @Body() body: FinalizeDto,
    @Req() request: FastifyRequest,
  ): Promise<Login> {
    return this.logins.finish(provider, body, loginOrigin(request, body.client));
  }

  @Summary(
    'Finishes a login without a device key: signs in, or makes an account that the server can read.',
  )
  @Post('finalize-keyless')
  @LoginMethod(':provider')
  @Answers(LoginAnswerDto)
  @Refuses(
    'invalid-pending',
    'invalid-proof',
    'account-disabled',
    'keyless-disabled',
    'e2ee-required',
    'signup-provider-disabled',
    'not-eligible',
    'provider-required',
    'restore-required',
    'unsupported-provider',
    'unavailable',
  )
  finalizeKeyless(
    @Param('provider') provider: string,
    @Body() body: FinalizeKeylessDto,
    @Req() request: FastifyRequest,
  ): Promise<Login> {
    return this.keyless.finish(provider, body, loginOrigin(request, body.client));
  }

  @Summary('The person that a pending login proved; finishes nothing.')
  @Post('pending')
  @Answers(PendingIdentityDto)
  @Refuses('invalid-request', 'invalid-pending', 'invalid-proof', 'unavailable')
  async describe(
    @Param('provider') provider: string,
    @Body() { pending, proof }: PendingProofDto,
  ): Promise<PendingIdentityDto> {
    const { holder, facts } = await this.pendings.read(provider, pending);
    checkFlowOwner(holder, proof, null);
    return { login: facts.login };
  }

  @Summary('Drops a pending login, existing or not.')
  @ApiParam({ name: 'provider', type: String })
  @Delete('pending/:pending')
  @Answers(SuccessDto)
  @Refuses('unavailable')
  async drop(@Param('pending') pending: string): Promise<SuccessDto> {
    await this.pendings.drop(pending);
    return { success: true };
  }
}

/** A login without a device key is finished with the proof alone, so it requires one. */
function toFlowOwner({ mode, proofHash, publicKey }: StartLoginDto): FlowOwner {
  if (proofHash === undefined && (mode === 'keyless' || publicKey === undefined)) {
    throw invalidRequest('proofHash', 'Send the SHA-256 of a secret that you keep, in hex.');
  }
  return {
    accountId: null,
    proofHash: proofHash?.toLowerCase() ?? null,
    publicKey: publicKey === undefined ? null : decodePublicKey(publicKey).toString('base64url'),
  };
}
