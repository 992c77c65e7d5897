import { Body, Controller, Post, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Answers, Refuses, SuccessDto } from '../../common/route-docs.js';
import type { Access } from '../auth.service.js';
import { LoginRateGuard } from '../login-rate.guard.js';
import { Caller, Public } from '../route-access.js';
import { DeviceRequestDto, DeviceRequestStateDto, DeviceResponseDto } from './devices.dto.js';
import { DevicesService } from './devices.service.js';

@ApiTags('auth')
@Controller('v1/auth/account')
export class DevicesController {
  constructor(private readonly devices: DevicesService) {}

  @ApiOperation({
    summary: 'A new device asks for its account, and asks again until an old one has answered.',
  })
  @Post('request')
  @Public()
  @UseGuards(LoginRateGuard)
  @Answers(DeviceRequestStateDto)
  @Refuses('invalid-request', 'invalid-public-key', 'account-disabled')
  @Refuses('rate-limited', 'unavailable')
  request(@Body() body: DeviceRequestDto): Promise<DeviceRequestStateDto> {
    return this.devices.request(body.publicKey);
  }

  @ApiOperation({ summary: 'An old device answers a new one.' })
  @Post('response')
  @ApiBearerAuth()
  @Answers(SuccessDto)
  @Refuses('invalid-request', 'invalid-public-key', 'not-found')
  async respond(@Caller() caller: Access, @Body() body: DeviceResponseDto): Promise<SuccessDto> {
    await this.devices.respond(caller.accountId, body.publicKey, body.response);
    return { success: true };
  }
}
