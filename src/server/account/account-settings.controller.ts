import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Access } from '../auth/auth.service.js';
import { Caller } from '../auth/route-access.js';
import { LargeBody } from '../http/request-rules.js';
import { Answers, Refuses, Summary } from '../http/route-docs.js';
import type { Content } from '../../core/protocol/content.js';
import {
  SettingsDto,
  SettingsV2Dto,
  SettingsV2WrittenDto,
  SettingsWrittenDto,
  WriteSettingsDto,
  WriteSettingsV2Dto,
} from './account.dto.js';
import { AccountSettingsService } from './account-settings.service.js';

@ApiTags('account')
@Controller()
export class AccountSettingsController {
  constructor(private readonly settings: AccountSettingsService) {}

  @Summary('The settings of an end-to-end encrypted account.')
  @Get('v1/account/settings')
  @Answers(SettingsDto)
  @Refuses('plain-account-requires-settings-v2')
  async read(@Caller() { accountId }: Access): Promise<SettingsDto> {
    const { content, version } = await this.settings.readEncrypted(accountId);
    return { settings: textOf(content), settingsVersion: version };
  }

  @Summary(
    'Writes the settings if their version is still `expectedVersion`; otherwise returns what is stored.',
  )
  @Post('v1/account/settings')
  @LargeBody()
  @Answers(SettingsWrittenDto)
  @Refuses('plain-account-requires-settings-v2', 'encrypted-writes-disabled')
  async write(
    @Caller() { accountId }: Access,
    @Body() { settings, expectedVersion }: WriteSettingsDto,
  ): Promise<SettingsWrittenDto> {
    const outcome = await this.settings.writeEncrypted(accountId, settings, expectedVersion);
    const { current, ...written } = outcome;
    return { ...written, ...(current && { currentSettings: textOf(current.content) }) };
  }

  @Summary('The settings of any account.')
  @Get('v2/account/settings')
  @Answers(SettingsV2Dto)
  async readV2(@Caller() { accountId }: Access): Promise<SettingsV2Dto> {
    const { content, version } = await this.settings.read(accountId);
    return { content, version };
  }

  @Summary(
    'Writes the settings if their version is still `expectedVersion`; otherwise returns what is stored.',
  )
  @Post('v2/account/settings')
  @LargeBody()
  @Answers(SettingsV2WrittenDto)
  @Refuses('content-mode-mismatch', 'encrypted-writes-disabled', 'plaintext-writes-disabled')
  async writeV2(
    @Caller() { accountId }: Access,
    @Body() { content, expectedVersion }: WriteSettingsV2Dto,
  ): Promise<SettingsV2WrittenDto> {
    const outcome = await this.settings.write(accountId, content, expectedVersion);
    const { current, ...written } = outcome;
    return { ...written, ...(current && { currentContent: current.content }) };
  }
}

function textOf(content: Content | null): string | null {
  return content?.t === 'encrypted' ? content.c : null;
}
