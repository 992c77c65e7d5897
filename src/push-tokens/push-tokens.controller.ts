import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import type { Access } from '../auth/auth.service.js';
import { Caller } from '../auth/route-access.js';
import { Answers, SuccessDto } from '../common/route-docs.js';
import { PushTokensService } from './push-tokens.service.js';

class SavePushTokenDto {
  @ApiProperty({ description: '1 to 1024 printable characters.' })
  @Matches(/^[^\p{C}\p{Zl}\p{Zp}]+$/u, { message: 'token must be 1 to 1024 printable characters' })
  @MaxLength(1024)
  @IsString()
  token!: string;

  @ApiProperty({
    required: false,
    nullable: true,
    type: String,
    description: 'The address at which the app reaches this server.',
  })
  @IsOptional()
  @Matches(/^[^\p{C}]*$/u, { message: 'clientServerUrl must hold printable characters only' })
  @MaxLength(2048)
  @IsString()
  clientServerUrl?: string | null;
}

class PushTokenDto {
  @ApiProperty()
  id!: string;

  @ApiProperty()
  token!: string;

  @ApiProperty({ nullable: true, type: String })
  clientServerUrl!: string | null;

  @ApiProperty({ description: 'Unix milliseconds.' })
  createdAt!: number;

  @ApiProperty({ description: 'Unix milliseconds.' })
  updatedAt!: number;
}

class PushTokenListDto {
  @ApiProperty({ type: [PushTokenDto], description: 'Newest first.' })
  tokens!: PushTokenDto[];
}

@ApiTags('push tokens')
@Controller('v1/push-tokens')
export class PushTokensController {
  constructor(private readonly pushTokens: PushTokensService) {}

  @ApiOperation({ summary: "The account's saved tokens, newest first." })
  @Get()
  @Answers(PushTokenListDto)
  async list(@Caller() caller: Access): Promise<PushTokenListDto> {
    return { tokens: await this.pushTokens.list(caller.accountId) };
  }

  @ApiOperation({
    summary: 'Saves a token; saved again, it is updated.',
    description: 'The 101st makes the one unused longest give way.',
  })
  @Post()
  @Answers(SuccessDto)
  async save(@Caller() caller: Access, @Body() body: SavePushTokenDto): Promise<SuccessDto> {
    await this.pushTokens.save(caller.accountId, body.token, body.clientServerUrl ?? null);
    return { success: true };
  }

  @ApiOperation({ summary: 'Removes a token, known or not.' })
  @Delete(':token')
  @Answers(SuccessDto)
  async remove(@Caller() caller: Access, @Param('token') token: string): Promise<SuccessDto> {
    await this.pushTokens.remove(caller.accountId, token);
    return { success: true };
  }
}
