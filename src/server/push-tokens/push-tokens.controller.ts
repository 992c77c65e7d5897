import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { IsString, Matches, MaxLength } from 'class-validator';
import { OptionalField } from '../http/text-field.js';
import type { Access } from '../auth/auth.service.js';
import { Caller } from '../auth/route-access.js';
import {
  Answers,
  ApiList,
  ApiTextOrNull,
  ApiTime,
  Described,
  SuccessDto,
  Summary,
} from '../http/route-docs.js';
import { PushTokensService } from './push-tokens.service.js';

/** Not blanks alone. */
const LINE = /^(?=.*\P{Z})[^\p{C}\p{Zl}\p{Zp}]+$/u;

class SavePushTokenDto {
  @Described('1 to 1024 printable characters.')
  @Matches(LINE, { message: 'token must be 1 to 1024 printable characters' })
  @MaxLength(1024)
  @IsString()
  token!: string;

  @OptionalField({
    nullable: true,
    type: String,
    description: 'The address at which the app reaches this server.',
  })
  @Matches(/^[^\p{C}]*$/u, { message: 'clientServerUrl must hold printable characters only' })
  @MaxLength(2048)
  @IsString()
  clientServerUrl?: string | null;

  @OptionalField({
    nullable: true,
    type: String,
    maxLength: 64,
    description: 'For a person, who distinguishes devices by it.',
  })
  @Matches(LINE, { message: 'name must be 1 to 64 printable characters' })
  @MaxLength(64)
  @IsString()
  name?: string | null;

  @OptionalField({ nullable: true, type: String, maxLength: 32 })
  @Matches(LINE, { message: 'platform must be 1 to 32 printable characters' })
  @MaxLength(32)
  @IsString()
  platform?: string | null;
}

class PushTokenDto {
  @ApiProperty() id!: string;
  @ApiProperty() token!: string;
  @ApiTextOrNull() clientServerUrl!: string | null;
  @ApiTextOrNull() name!: string | null;
  @ApiTextOrNull() platform!: string | null;
  @ApiTime() createdAt!: number;
  @ApiTime() updatedAt!: number;
}

class PushTokenListDto {
  @ApiList(PushTokenDto, 'Newest first.') tokens!: PushTokenDto[];
}

@ApiTags('push tokens')
@Controller('v1/push-tokens')
export class PushTokensController {
  constructor(private readonly pushTokens: PushTokensService) {}

  @Summary("The account's saved tokens, newest first.")
  @Get()
  @Answers(PushTokenListDto)
  async list(@Caller() caller: Access): Promise<PushTokenListDto> {
    return { tokens: await this.pushTokens.list(caller.accountId) };
  }

  @Summary(
    'Saves a token; saved again, what is given is updated and the rest stays.',
    'It belongs to the session that saved it last, and is removed when that is ended. The 101st removes the one unused longest.',
  )
  @Post()
  @Answers(SuccessDto)
  async save(@Caller() caller: Access, @Body() body: SavePushTokenDto): Promise<SuccessDto> {
    const { token, ...facts } = body;
    await this.pushTokens.save(caller, token, facts);
    return { success: true };
  }

  @Summary('Removes a token, known or not.')
  @Delete(':token')
  @Answers(SuccessDto)
  async remove(@Caller() caller: Access, @Param('token') token: string): Promise<SuccessDto> {
    await this.pushTokens.remove(caller, token);
    return { success: true };
  }
}
