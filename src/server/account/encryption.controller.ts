import { Body, Controller, Get, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Access } from '../auth/auth.service.js';
import { Caller } from '../auth/route-access.js';
import { NeedsFreshLogin } from '../auth/sessions/fresh-login.guard.js';
import { LargeBody } from '../http/request-rules.js';
import { Answers, Refuses, Summary } from '../http/route-docs.js';
import {
  ChangeEncryptionDto,
  EncryptionDto,
  MigratedDto,
  MigrateEncryptionDto,
} from './account.dto.js';
import { EncryptionService } from './encryption.service.js';

@ApiTags('account')
@Controller('v1/account/encryption')
export class EncryptionController {
  constructor(private readonly encryption: EncryptionService) {}

  @Summary("How this account's content is encrypted.")
  @Get()
  @Answers(EncryptionDto)
  read(@Caller() { accountId }: Access): Promise<EncryptionDto> {
    return this.encryption.read(accountId);
  }

  @Summary('Changes the encryption mode, while nothing is stored.')
  @Patch()
  @NeedsFreshLogin()
  @Answers(EncryptionDto)
  @Refuses('account-optout-disabled', 'migration-required')
  change(
    @Caller() { accountId }: Access,
    @Body() { mode }: ChangeEncryptionDto,
  ): Promise<EncryptionDto> {
    return this.encryption.change(accountId, mode);
  }

  @Summary('Changes the encryption mode and all stored content in one transaction.')
  @Post('migrate')
  @LargeBody()
  @NeedsFreshLogin()
  @Answers(MigratedDto)
  @Refuses(
    'content-mode-mismatch',
    'account-optout-disabled',
    'encrypted-writes-disabled',
    'plaintext-writes-disabled',
    'migration-required',
  )
  migrate(
    @Caller() { accountId }: Access,
    @Body() request: MigrateEncryptionDto,
  ): Promise<MigratedDto> {
    return this.encryption.migrate(accountId, request);
  }
}
