import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Access } from '../auth/auth.service.js';
import { Caller } from '../auth/route-access.js';
import { Answers, Refuses } from '../common/route-docs.js';
import type { Content } from '../policy/content.js';
import {
  SettingsDto,
  SettingsV2Dto,
  SettingsV2WrittenDto,
  SettingsWrittenDto,
  WriteSettingsDto,
  WriteSettingsV2Dto,
} from './account-settings.dto.js';
import { AccountSettingsService } from './account-settings.service.js';

@ApiTags('account')
@ApiBearerAuth()
@Controller()
export class AccountSettingsController {
  constructor(private readonly settings: AccountSettingsService) {}

  @ApiOperation({ summary: 'The settings of an end-to-end encrypted account.' })
  @Get('v1/account/settings')
  @Answers(SettingsDto)
  @Refuses('missing-token', 'invalid-token', 'provider-required', 'not-eligible', 'unavailable')
  @Refuses('plain-account-requires-settings-v2')
  async read(@Caller() { accountId }: Access): Promise<SettingsDto> {
    const { content, version } = await this.settings.readEncrypted(accountId);
    return { settings: textOf(content), settingsVersion: version };
  }

  @ApiOperation({
    summary:
      'Writes the settings where nobody else has since `expectedVersion`; otherwise says what is there.',
  })
  @Post('v1/account/settings')
  @Answers(SettingsWrittenDto)
  @Refuses('missing-token', 'invalid-token', 'provider-required', 'not-eligible', 'unavailable')
  @Refuses('invalid-request', 'plain-account-requires-settings-v2', 'encrypted-writes-disabled')
  @Refuses('payload-too-large')
  async write(
    @Caller() { accountId }: Access,
    @Body() { settings, expectedVersion }: WriteSettingsDto,
  ): Promise<SettingsWrittenDto> {
    const outcome = await this.settings.writeEncrypted(accountId, settings, expectedVersion);
    if (outcome.isWritten) {
      return { success: true, version: outcome.version };
    }
    const { content, version } = outcome.current;
    return { ...MISMATCH, currentVersion: version, currentSettings: textOf(content) };
  }

  @ApiOperation({ summary: 'The settings of any account.' })
  @Get('v2/account/settings')
  @Answers(SettingsV2Dto)
  @Refuses('missing-token', 'invalid-token', 'provider-required', 'not-eligible', 'unavailable')
  async readV2(@Caller() { accountId }: Access): Promise<SettingsV2Dto> {
    const { content, version } = await this.settings.read(accountId);
    return { content, version };
  }

  @ApiOperation({
    summary:
      'Writes the settings where nobody else has since `expectedVersion`; otherwise says what is there.',
  })
  @Post('v2/account/settings')
  @Answers(SettingsV2WrittenDto)
  @Refuses('missing-token', 'invalid-token', 'provider-required', 'not-eligible', 'unavailable')
  @Refuses('invalid-request', 'content-mode-mismatch', 'encrypted-writes-disabled')
  @Refuses('plaintext-writes-disabled', 'payload-too-large')
  async writeV2(
    @Caller() { accountId }: Access,
    @Body() { content, expectedVersion }: WriteSettingsV2Dto,
  ): Promise<SettingsV2WrittenDto> {
    const outcome = await this.settings.write(accountId, content, expectedVersion);
    if (outcome.isWritten) {
      return { success: true, version: outcome.version };
    }
    const { current } = outcome;
    return { ...MISMATCH, currentVersion: current.version, currentContent: current.content };
  }
}

const MISMATCH = { success: false, error: 'version-mismatch' } as const;

function textOf(content: Content | null): string | null {
  return content?.t === 'encrypted' ? content.c : null;
}
