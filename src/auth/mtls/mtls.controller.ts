import { Body, Controller, Get, Post, Query, Redirect, Req, UseGuards } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ChangesState } from '../../common/head-requests.js';
import { Answers, Refuses } from '../../common/route-docs.js';
import { LoginAnswerDto } from '../device-key/device-key.dto.js';
import { LoginRateGuard } from '../login-rate.guard.js';
import { Public } from '../route-access.js';
import { LoginClientDto, loginOrigin } from '../sessions/login-origin.js';
import type { Login } from '../sessions/session-issuer.js';
import { CertificateLogin } from './certificate-login.service.js';
import { ClaimDto } from './mtls.dto.js';

interface Redirection {
  readonly url: string;
  readonly statusCode: 302;
}

const RETURN_TO = {
  name: 'returnTo',
  description: 'Where the browser goes then; the operator lists what is allowed.',
} as const;

const PROOF_HASH = {
  name: 'proofHash',
  required: false,
  description: 'SHA-256 of a secret `proof` in hex; the code is then claimed with `proof` alone.',
} as const;

@ApiTags('client certificates')
@Controller('v1/auth/mtls')
@Public()
@UseGuards(LoginRateGuard)
export class MtlsController {
  constructor(private readonly logins: CertificateLogin) {}

  @ApiOperation({ summary: 'Login with the client certificate of this connection.' })
  @Post()
  @Answers(LoginAnswerDto)
  @Refuses('mtls-required', 'not-eligible', 'e2ee-required', 'keyless-disabled')
  @Refuses('signup-provider-disabled', 'account-disabled', 'restore-required', 'not-found')
  @Refuses('rate-limited', 'unavailable')
  @ApiBody({ type: LoginClientDto, required: false })
  logIn(@Body() { client }: LoginClientDto, @Req() request: FastifyRequest): Promise<Login> {
    return this.logins.logIn(request.raw, loginOrigin(request, client));
  }

  @ApiOperation({
    summary: 'Begins a login in a browser: goes on to where it is asked for a certificate.',
  })
  @Get('start')
  @Redirect()
  @ApiQuery(RETURN_TO)
  @ApiQuery(PROOF_HASH)
  @ApiResponse({ status: 302, description: 'To `complete`.' })
  @Refuses('invalid-request', 'invalid-return-to', 'not-found', 'rate-limited')
  start(@Query('returnTo') returnTo: unknown, @Query('proofHash') proofHash: unknown): Redirection {
    return { url: this.logins.start(returnTo, proofHash), statusCode: 302 };
  }

  @ApiOperation({ summary: 'Ends a login in a browser: back to the return address.' })
  @Get('complete')
  @ChangesState()
  @Redirect()
  @ApiQuery(RETURN_TO)
  @ApiQuery(PROOF_HASH)
  @ApiResponse({ status: 302, description: 'To `returnTo`, with `code` or `error`.' })
  @Refuses('invalid-request', 'invalid-return-to', 'not-found', 'rate-limited', 'unavailable')
  async complete(
    @Req() { raw }: FastifyRequest,
    @Query('returnTo') returnTo: unknown,
    @Query('proofHash') proofHash: unknown,
  ): Promise<Redirection> {
    return { url: await this.logins.complete(raw, returnTo, proofHash), statusCode: 302 };
  }

  @ApiOperation({ summary: 'Takes the token that a code stands for, once.' })
  @Post('claim')
  @Answers(LoginAnswerDto)
  @Refuses('invalid-request', 'invalid-code', 'invalid-proof', 'e2ee-required')
  @Refuses('keyless-disabled')
  @Refuses('account-disabled', 'restore-required', 'not-found', 'rate-limited', 'unavailable')
  claim(@Body() { code, proof, client }: ClaimDto, @Req() request: FastifyRequest): Promise<Login> {
    return this.logins.claim(code, proof ?? null, loginOrigin(request, client));
  }
}
