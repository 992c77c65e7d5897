import { Body, Controller, Delete, Get, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Access } from '../auth/auth.service.js';
import { Caller } from '../auth/route-access.js';
import { LargeBody } from '../http/request-rules.js';
import { Answers, Refuses, SuccessDto, Summary } from '../http/route-docs.js';
import { CredentialDto, CredentialListDto, PutCredentialDto } from './account.dto.js';
import { CredentialsService } from './credentials.service.js';

@ApiTags('account')
@Controller('v1/account/credentials')
export class CredentialsController {
  constructor(private readonly credentials: CredentialsService) {}

  @Summary('Credentials of connected services.')
  @Get()
  @Answers(CredentialListDto)
  async list(@Caller() { accountId }: Access): Promise<CredentialListDto> {
    return { credentials: await this.credentials.list(accountId) };
  }

  @Summary('The credentials of one service.')
  @Get(':service')
  @Answers(CredentialDto)
  @Refuses('invalid-request', 'not-found')
  find(@Caller() { accountId }: Access, @Param('service') service: string): Promise<CredentialDto> {
    return this.credentials.find(accountId, service);
  }

  @Summary(
    'Stores the credentials of a service and replaces earlier ones.',
    'At most 100 services: 1 to 64 of `[A-Za-z0-9._-]`.',
  )
  @Put(':service')
  @LargeBody()
  @Answers(SuccessDto)
  @Refuses('content-mode-mismatch', 'encrypted-writes-disabled', 'plaintext-writes-disabled')
  async put(
    @Caller() { accountId }: Access,
    @Param('service') service: string,
    @Body() { content }: PutCredentialDto,
  ): Promise<SuccessDto> {
    await this.credentials.put(accountId, service, content);
    return { success: true };
  }

  @Summary('Removes the credentials of a service, known or not.')
  @Delete(':service')
  @Answers(SuccessDto)
  async remove(
    @Caller() { accountId }: Access,
    @Param('service') service: string,
  ): Promise<SuccessDto> {
    await this.credentials.remove(accountId, service);
    return { success: true };
  }
}
