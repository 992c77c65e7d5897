import { Body, Controller, Get, Post, Query, Req, UseGuards } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ChangesState } from '../../http/request-rules.js';
import { Answers, Redirects, Refuses, Summary } from '../../http/route-docs.js';
import { LoginAnswerDto } from '../device-key/device-key.dto.js';
import { LoginMethod } from '../login-outcomes.service.js';
import { LoginRateGuard } from '../../auth/login-rate.guard.js';
import { Public } from '../../auth/route-access.js';
import { LoginClientDto, loginOrigin } from '../../auth/sessions/login-origin.js';
import type { Login } from '../../auth/sessions/session-issuer.service.js';
import { CertificateLoginService } from './certificate-login.service.js';
import { BrowserStepDto, ClaimDto } from './certificate.dto.js';

@ApiTags('client certificates')
@Controller('v1/auth/mtls')
@Public()
@UseGuards(LoginRateGuard)
export class CertificateLoginController {
  constructor(private readonly logins: CertificateLoginService) {}

  @Summary('Login with the client certificate of this connection.')
  @Post()
  @LoginMethod('mtls')
  @Answers(LoginAnswerDto)
  @Refuses(
    'mtls-required',
    'not-eligible',
    'e2ee-required',
    'keyless-disabled',
    'signup-provider-disabled',
    'account-disabled',
    'restore-required',
    'not-found',
    'unavailable',
  )
  @ApiBody({ type: LoginClientDto, required: false })
  logIn(@Body() { client }: LoginClientDto, @Req() request: FastifyRequest): Promise<Login> {
    return this.logins.logIn(request.raw, loginOrigin(request, client));
  }

  @Summary('Begins a login in a browser: redirects to the address that requests its certificate.')
  @Get('start')
  @Redirects('To `complete`.')
  @Refuses('invalid-request', 'invalid-return-to', 'not-found')
  start(@Query() { returnTo, proofHash }: BrowserStepDto): { url: string } {
    return { url: this.logins.start(returnTo, proofHash) };
  }

  @Summary('Ends a login in a browser: redirects to the return address.')
  @Get('complete')
  @ChangesState()
  @Redirects('To `returnTo`, with `code` or `error`.')
  @Refuses('invalid-request', 'invalid-return-to', 'not-found', 'unavailable')
  async complete(
    @Req() { raw }: FastifyRequest,
    @Query() { returnTo, proofHash }: BrowserStepDto,
  ): Promise<{ url: string }> {
    return { url: await this.logins.complete(raw, returnTo, proofHash) };
  }

  @Summary('Exchanges a code for a token, once.')
  @Post('claim')
  @LoginMethod('mtls')
  @Answers(LoginAnswerDto)
  @Refuses(
    'invalid-code',
    'invalid-proof',
    'e2ee-required',
    'keyless-disabled',
    'account-disabled',
    'restore-required',
    'not-found',
    'unavailable',
  )
  claim(@Body() { code, proof, client }: ClaimDto, @Req() request: FastifyRequest): Promise<Login> {
    return this.logins.claim(code, proof ?? null, loginOrigin(request, client));
  }
}
