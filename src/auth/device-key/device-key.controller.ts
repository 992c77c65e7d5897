import { Body, Controller, Post, Req, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Answers, Refuses, SuccessDto } from '../../common/route-docs.js';
import type { Login } from '../account-access.js';
import type { Access } from '../auth.service.js';
import { LoginRateGuard } from '../login-rate.guard.js';
import { Caller, OpenToAnyToken, Public } from '../route-access.js';
import { ChallengeDto, DeviceKeyLoginDto, LoginAnswerDto } from './device-key.dto.js';
import { DeviceKeyService } from './device-key.service.js';
import { LoginChallenges } from './login-challenges.js';
import { LogoutService } from './logout.service.js';
import { SignupPolicyGuard, type JudgedLoginRequest } from './signup-policy.guard.js';

@ApiTags('auth')
@Controller('v1/auth')
export class DeviceKeyController {
  constructor(
    private readonly deviceKeys: DeviceKeyService,
    private readonly challenges: LoginChallenges,
    private readonly sessions: LogoutService,
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
  @Refuses('rate-limited', 'unavailable')
  logIn(@Body() body: DeviceKeyLoginDto, @Req() request: JudgedLoginRequest): Promise<Login> {
    return this.deviceKeys.logIn(body, request.knownAccount ?? null);
  }

  @ApiOperation({ summary: 'Revokes this token, at once and everywhere.' })
  @Post('logout')
  @OpenToAnyToken()
  @Answers(SuccessDto)
  @Refuses('missing-token', 'invalid-token', 'token-expired', 'token-revoked', 'account-disabled')
  logOut(@Caller() caller: Access): Promise<SuccessDto> {
    return this.sessions.logOut(caller);
  }

  @ApiOperation({ summary: "Revokes all of the account's tokens." })
  @Post('logout-everywhere')
  @OpenToAnyToken()
  @Answers(SuccessDto)
  @Refuses('missing-token', 'invalid-token', 'token-expired', 'token-revoked', 'account-disabled')
  logOutEverywhere(@Caller() caller: Access): Promise<SuccessDto> {
    return this.sessions.logOutEverywhere(caller);
  }
}
