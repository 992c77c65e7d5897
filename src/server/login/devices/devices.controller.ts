import { Body, Controller, Delete, Get, Param, Post, Req, UseGuards } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { IdParam } from '../../http/id-param.js';
import { Answers, Refuses, SuccessDto, Summary } from '../../http/route-docs.js';
import type { Access } from '../../auth/auth.service.js';
import { LoginRateGuard } from '../../auth/login-rate.guard.js';
import { Caller, Public } from '../../auth/route-access.js';
import { NeedsFreshLogin } from '../../auth/sessions/fresh-login.guard.js';
import { loginOrigin } from '../../auth/sessions/login-origin.js';
import {
  ApproveDeviceDto,
  ClaimDeviceDto,
  DeviceRequestDto,
  DeviceTokenDto,
  RequestDeviceDto,
  WaitingDeviceDto,
} from './devices.dto.js';
import { DeviceRequestsService } from './device-requests.service.js';
import { DevicesService } from './devices.service.js';

@ApiTags('devices')
@Controller('v2/auth/devices')
export class DevicesController {
  constructor(
    private readonly requests: DeviceRequestsService,
    private readonly devices: DevicesService,
  ) {}

  @Summary('Requests to be added to an account; valid for ten minutes.')
  @Post()
  @Public()
  @UseGuards(LoginRateGuard)
  @Answers(DeviceRequestDto)
  @Refuses('invalid-public-key', 'unavailable')
  request(
    @Body() body: RequestDeviceDto,
    @Req() request: FastifyRequest,
  ): Promise<DeviceRequestDto> {
    return this.requests.request(body, loginOrigin(request, body.client));
  }

  @Summary('The waiting device with this user code.')
  // The same name as in the other routes, as OpenAPI requires.
  @Get(':id')
  @ApiParam({ name: 'id', description: 'The user code, in any case, with the dash or without.' })
  @Answers(WaitingDeviceDto)
  @Refuses('not-found')
  find(
    @Param('id') userCode: string,
    @Caller() caller: Access,
    @Req() { ip }: FastifyRequest,
  ): Promise<WaitingDeviceDto> {
    return this.requests.find(userCode, caller, ip);
  }

  @Summary('Adds a device to the account, while the approving session is active.')
  @Post(':id/approve')
  @NeedsFreshLogin()
  @Answers(SuccessDto)
  @Refuses('not-found', 'already-answered')
  async approve(
    @IdParam() id: string,
    @Body() { sealed }: ApproveDeviceDto,
    @Caller() caller: Access,
    @Req() { ip }: FastifyRequest,
  ): Promise<SuccessDto> {
    await this.devices.approve(id, caller, sealed, ip);
    return { success: true };
  }

  @Summary('Refuses a device.')
  @Delete(':id')
  @Answers(SuccessDto)
  @Refuses('not-found', 'already-answered')
  async refuse(
    @IdParam() id: string,
    @Caller() caller: Access,
    @Req() { ip }: FastifyRequest,
  ): Promise<SuccessDto> {
    await this.devices.refuse(id, caller, ip);
    return { success: true };
  }

  @Summary("The device's own token, once it was approved.")
  @Post(':id/token')
  @Public()
  @Answers(DeviceTokenDto)
  @Refuses('invalid-proof', 'not-found', 'unavailable')
  claim(@IdParam() id: string, @Body() { proof, client }: ClaimDeviceDto): Promise<DeviceTokenDto> {
    return this.devices.claim(id, proof, client?.sessionSeconds);
  }
}
