import { Body, Controller, Post, Req, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Answers, Refuses, Summary } from '../../http/route-docs.js';
import { LoginMethod } from '../login-outcomes.service.js';
import { LoginRateGuard } from '../../auth/login-rate.guard.js';
import { Public } from '../../auth/route-access.js';
import { loginOrigin } from '../../auth/sessions/login-origin.js';
import type { Login } from '../../auth/sessions/session-issuer.service.js';
import { ChallengeDto, DeviceKeyLoginDto, LoginAnswerDto } from './device-key.dto.js';
import { DeviceKeyService } from './device-key.service.js';
import { LoginChallengeService } from './login-challenge.service.js';
import { DeviceKeyLoginGuard } from './device-key-login.guard.js';

@ApiTags('auth')
@Controller('v1/auth')
export class DeviceKeyController {
  constructor(
    private readonly deviceKeys: DeviceKeyService,
    private readonly challenges: LoginChallengeService,
  ) {}

  @Summary('A challenge to sign: valid for 60 seconds and one login.')
  @Post('challenge')
  @Public()
  @UseGuards(LoginRateGuard)
  @Answers(ChallengeDto)
  @Refuses('unavailable')
  challenge(): Promise<ChallengeDto> {
    return this.challenges.issue();
  }

  @Summary('Signs in with a device key, or signs up.')
  @Post()
  @LoginMethod('key_challenge')
  @Public()
  @UseGuards(LoginRateGuard, DeviceKeyLoginGuard)
  @Answers(LoginAnswerDto)
  @Refuses(
    'invalid-public-key',
    'invalid-signature',
    'challenge-required',
    'challenge-expired',
    'signup-disabled',
    'invitation-invalid',
    'key-challenge-disabled',
    'account-disabled',
    'not-found',
    'unavailable',
  )
  logIn(@Body() body: DeviceKeyLoginDto, @Req() request: FastifyRequest): Promise<Login> {
    return this.deviceKeys.logIn(body, loginOrigin(request, body.client));
  }
}
