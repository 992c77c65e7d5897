import { Body, Controller, Post, Req, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Answers, Refuses } from '../../common/route-docs.js';
import { LoginRateGuard } from '../login-rate.guard.js';
import { Public } from '../route-access.js';
import { loginOrigin } from '../sessions/login-origin.js';
import type { Login } from '../sessions/session-issuer.js';
import { ChallengeDto, DeviceKeyLoginDto, LoginAnswerDto } from './device-key.dto.js';
import { DeviceKeyService } from './device-key.service.js';
import { LoginChallenges } from './login-challenges.js';
import { SignupPolicyGuard } from './signup-policy.guard.js';

@ApiTags('auth')
@Controller('v1/auth')
export class DeviceKeyController {
  constructor(
    private readonly deviceKeys: DeviceKeyService,
    private readonly challenges: LoginChallenges,
  ) {}

  @ApiOperation({ summary: 'A challenge to sign: it lives 60 seconds and passes once.' })
  @Post('challenge')
  @Public()
  @UseGuards(LoginRateGuard)
  @Answers(ChallengeDto)
  @Refuses('rate-limited', 'unavailable')
  challenge(): Promise<ChallengeDto> {
    return this.challenges.issue();
  }

  @ApiOperation({ summary: 'Device-key sign-up and login.' })
  @Post()
  @Public()
  @UseGuards(LoginRateGuard, SignupPolicyGuard)
  @Answers(LoginAnswerDto)
  @Refuses('invalid-request', 'invalid-public-key', 'invalid-signature', 'challenge-required')
  @Refuses('challenge-expired', 'signup-disabled', 'key-challenge-disabled', 'account-disabled')
  @Refuses('not-found', 'rate-limited', 'unavailable')
  logIn(@Body() body: DeviceKeyLoginDto, @Req() request: FastifyRequest): Promise<Login> {
    return this.deviceKeys.logIn(body, loginOrigin(request, body.client));
  }
}
