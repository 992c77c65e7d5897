import { Body, Controller, Delete, Get, Post, Query, Req, UseGuards } from '@nestjs/common';
import { ApiBody, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Access } from '../../auth/auth.service.js';
import { LoginRateGuard } from '../../auth/login-rate.guard.js';
import { Caller, OpenToAnyToken, Public } from '../../auth/route-access.js';
import { NeedsFreshLogin } from '../../auth/sessions/fresh-login.guard.js';
import { ChangesState } from '../../http/request-rules.js';
import { Answers, Redirects, Refuses, SuccessDto, Summary } from '../../http/route-docs.js';
import { CertificateConnectService } from './certificate-connect.service.js';
import { BrowserStepDto, ConnectCertificateDto, ConnectStartDto } from './certificate.dto.js';

@ApiTags('client certificates')
@Controller('v1/connect/certificate')
@OpenToAnyToken()
export class CertificateConnectController {
  constructor(private readonly connections: CertificateConnectService) {}

  @Summary('Begins connecting a certificate in a browser: the address that requests it.')
  @Get('start')
  @NeedsFreshLogin()
  @ChangesState()
  @Answers(ConnectStartDto)
  @Refuses(
    'invalid-request',
    'invalid-return-to',
    'not-found',
    'mtls-required',
    'keyless-disabled',
    'e2ee-required',
  )
  async start(
    @Caller() { accountId }: Access,
    @Query() { returnTo, proofHash }: BrowserStepDto,
  ): Promise<ConnectStartDto> {
    return { url: await this.connections.start(accountId, returnTo, proofHash) };
  }

  @Summary('Reads the certificate of a browser: redirects to the return address.')
  @Get('complete')
  @Public()
  @UseGuards(LoginRateGuard)
  @ChangesState()
  @ApiQuery({ name: 'state', description: 'Of the address that `start` returned; used once.' })
  @Redirects('To `returnTo`, with `code` or `error`.')
  @Refuses('invalid-pending', 'invalid-return-to', 'not-found', 'mtls-required', 'unavailable')
  async complete(
    @Req() { raw }: FastifyRequest,
    @Query('state') state: unknown,
  ): Promise<{ url: string }> {
    return { url: await this.connections.complete(raw, state) };
  }

  @Summary('Connects the certificate of this connection, or of a `code`.')
  @Post()
  @NeedsFreshLogin()
  @Answers(SuccessDto)
  @ApiBody({ type: ConnectCertificateDto, required: false })
  @Refuses(
    'invalid-code',
    'invalid-proof',
    'mtls-required',
    'keyless-disabled',
    'e2ee-required',
    'not-eligible',
    'not-found',
    'provider-already-linked',
    'unavailable',
  )
  async connect(
    @Caller() caller: Access,
    @Body() { code, proof }: ConnectCertificateDto,
    @Req() { raw, ip }: FastifyRequest,
  ): Promise<SuccessDto> {
    // class-validator treats null as absent.
    await (typeof code === 'string'
      ? this.connections.claim(caller, code, proof ?? null, ip)
      : this.connections.connect(caller, raw));
    return { success: true };
  }

  @Summary(
    'Unlinks the certificate, linked or not.',
    'Where a certificate is required, access ends at once, everywhere. Sessions of an account without a device key that began with it end.',
  )
  @Delete()
  @NeedsFreshLogin()
  @Answers(SuccessDto)
  @Refuses('last-identity')
  async disconnect(@Caller() caller: Access): Promise<SuccessDto> {
    await this.connections.disconnect(caller);
    return { success: true };
  }
}
