import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Access } from '../auth/auth.service.js';
import { Caller } from '../auth/route-access.js';
import { Answers, Refuses, SuccessDto } from '../common/route-docs.js';
import { PushTokenListDto, SavePushTokenDto } from './push-tokens.dto.js';
import { PushTokensService } from './push-tokens.service.js';

@ApiTags('push tokens')
@ApiBearerAuth()
@Controller('v1/push-tokens')
export class PushTokensController {
  constructor(private readonly pushTokens: PushTokensService) {}

  @ApiOperation({ summary: "The account's saved tokens, newest first." })
  @Get()
  @Answers(PushTokenListDto)
  @Refuses('missing-token', 'invalid-token', 'provider-required', 'not-eligible', 'unavailable')
  async list(@Caller() caller: Access): Promise<PushTokenListDto> {
    return { tokens: await this.pushTokens.list(caller.accountId) };
  }

  @ApiOperation({
    summary: 'Saves a token; saved again, it is updated.',
    description: 'The 101st makes the one unused longest give way.',
  })
  @Post()
  @Answers(SuccessDto)
  @Refuses('invalid-request', 'missing-token', 'provider-required', 'not-eligible', 'unavailable')
  async save(@Caller() caller: Access, @Body() body: SavePushTokenDto): Promise<SuccessDto> {
    await this.pushTokens.save(caller.accountId, body.token, body.clientServerUrl ?? null);
    return { success: true };
  }

  @ApiOperation({ summary: 'Removes a token, known or not.' })
  @Delete(':token')
  @Answers(SuccessDto)
  @Refuses('missing-token', 'provider-required', 'not-eligible', 'unavailable')
  async remove(@Caller() caller: Access, @Param('token') token: string): Promise<SuccessDto> {
    await this.pushTokens.remove(caller.accountId, token);
    return { success: true };
  }
}
