import {
  Body,
  Controller,
  Delete,
  Get,
  Param,
  ParseUUIDPipe,
  Post,
  Req,
  UseGuards,
} from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors.js';
import { Answers, Refuses, SuccessDto } from '../../common/route-docs.js';
import type { Access } from '../auth.service.js';
import { LoginRateGuard } from '../login-rate.guard.js';
import { Caller, Public } from '../route-access.js';
import { NeedsFreshLogin } from '../sessions/fresh-login.guard.js';
import { loginOrigin } from '../sessions/login-origin.js';
import { DeviceClaims } from './device-claims.js';
import {
  ApproveDeviceDto,
  ClaimDeviceDto,
  DeviceRequestDto,
  DeviceTokenDto,
  RequestDeviceDto,
  WaitingDeviceDto,
} from './devices.dto.js';
import { DevicesService } from './devices.service.js';

const DONE: SuccessDto = { success: true };
const DeviceId = (): ParameterDecorator =>
  Param('id', new ParseUUIDPipe({ exceptionFactory: () => new AppError('not-found') }));

@ApiTags('devices')
@Controller('v2/auth/devices')
export class DevicesController {
  constructor(
    private readonly devices: DevicesService,
    private readonly claims: DeviceClaims,
  ) {}

  @ApiOperation({ summary: 'Asks to be added to an account; waits for ten minutes.' })
  @Post()
  @Public()
  @UseGuards(LoginRateGuard)
  @Answers(DeviceRequestDto)
  @Refuses('invalid-request', 'invalid-public-key', 'rate-limited', 'unavailable')
  request(
    @Body() body: RequestDeviceDto,
    @Req() request: FastifyRequest,
  ): Promise<DeviceRequestDto> {
    return this.devices.request(body, loginOrigin(request, body.client));
  }

  @ApiOperation({ summary: 'The device that shows this user code and was not answered yet.' })
  // Named as in the other routes: OpenAPI has one name for the part of a path.
  @Get(':id')
  @ApiParam({ name: 'id', description: 'The user code, in any case, with the dash or without.' })
  @ApiBearerAuth()
  @Answers(WaitingDeviceDto)
  @Refuses('missing-token', 'invalid-token', 'token-expired', 'token-revoked', 'account-disabled')
  @Refuses('provider-required', 'not-eligible', 'not-found', 'rate-limited', 'unavailable')
  find(
    @Param('id') userCode: string,
    @Caller() caller: Access,
    @Req() { ip }: FastifyRequest,
  ): Promise<WaitingDeviceDto> {
    return this.devices.find(userCode, caller, ip);
  }

  @ApiOperation({ summary: 'Adds a device to the account, while the session that approves lives.' })
  @Post(':id/approve')
  @ApiBearerAuth()
  @NeedsFreshLogin()
  @Answers(SuccessDto)
  @Refuses('missing-token', 'invalid-token', 'token-expired', 'token-revoked', 'account-disabled')
  @Refuses('provider-required', 'not-eligible', 'invalid-request', 'not-found', 'already-answered')
  @Refuses('unavailable')
  async approve(
    @DeviceId() id: string,
    @Body() { sealed }: ApproveDeviceDto,
    @Caller() caller: Access,
    @Req() { ip }: FastifyRequest,
  ): Promise<SuccessDto> {
    await this.devices.approve(id, caller, sealed ?? null, ip);
    return DONE;
  }

  @ApiOperation({ summary: 'Refuses a device.' })
  @Delete(':id')
  @ApiBearerAuth()
  @Answers(SuccessDto)
  @Refuses('missing-token', 'invalid-token', 'token-expired', 'token-revoked', 'account-disabled')
  @Refuses('provider-required', 'not-eligible', 'not-found', 'already-answered', 'unavailable')
  async refuse(
    @DeviceId() id: string,
    @Caller() caller: Access,
    @Req() { ip }: FastifyRequest,
  ): Promise<SuccessDto> {
    await this.devices.refuse(id, caller, ip);
    return DONE;
  }

  @ApiOperation({ summary: "The device's own token, once it was approved." })
  @Post(':id/token')
  @Public()
  @Answers(DeviceTokenDto)
  @Refuses('invalid-request', 'invalid-proof', 'not-found', 'rate-limited', 'unavailable')
  claim(@DeviceId() id: string, @Body() { proof }: ClaimDeviceDto): Promise<DeviceTokenDto> {
    return this.claims.claim(id, proof);
  }
}
