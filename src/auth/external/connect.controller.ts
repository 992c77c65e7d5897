import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ChangesState } from '../../common/head-requests.js';
import { Answers, Refuses, SuccessDto } from '../../common/route-docs.js';
import type { Access } from '../auth.service.js';
import { Caller, OpenToAnyToken } from '../route-access.js';
import { NeedsFreshLogin } from '../sessions/fresh-login.guard.js';
import { ConnectService } from './connect.service.js';
import { ExternalStartService } from './external-start.service.js';
import { ConnectFinalizeDto, StartAnswerDto, StartDto, toPort } from './external.dto.js';
import { IdentityLinks } from './identity-links.js';

@ApiTags('external providers')
@Controller('v1/connect/external/:provider')
@OpenToAnyToken()
export class ConnectController {
  constructor(
    private readonly starts: ExternalStartService,
    private readonly connects: ConnectService,
    private readonly links: IdentityLinks,
  ) {}

  @ApiOperation({
    summary: 'Begins linking an identity to this account: the address to open, for 10 minutes.',
  })
  @Get('params')
  @NeedsFreshLogin()
  @ChangesState()
  @Answers(StartAnswerDto)
  @Refuses('missing-token', 'invalid-token', 'token-expired', 'token-revoked', 'account-disabled')
  @Refuses('invalid-request', 'oauth-not-configured', 'unsupported-provider', 'unavailable')
  async start(
    @Caller() { accountId }: Access,
    @Param('provider') provider: string,
    @Query() { loopbackPort }: StartDto,
  ): Promise<StartAnswerDto> {
    const url = await this.starts.startConnect(provider, accountId, toPort(loopbackPort));
    return { url: url.href };
  }

  @ApiOperation({ summary: 'Links the identity that the return address brought.' })
  @Post('finalize')
  @NeedsFreshLogin()
  @Answers(SuccessDto)
  @Refuses('missing-token', 'invalid-token', 'token-expired', 'token-revoked', 'account-disabled')
  @Refuses('invalid-request', 'invalid-pending', 'not-eligible', 'provider-already-linked')
  @Refuses('unsupported-provider', 'unavailable')
  async finalize(
    @Caller() { accountId }: Access,
    @Param('provider') provider: string,
    @Body() { pending }: ConnectFinalizeDto,
  ): Promise<SuccessDto> {
    await this.connects.finish(accountId, provider, pending);
    return { success: true };
  }

  @ApiOperation({
    summary: 'Unlinks, linked or not.',
    description: 'Where the provider is required, access ends at once, everywhere.',
  })
  @Delete()
  @NeedsFreshLogin()
  @Answers(SuccessDto)
  @Refuses('missing-token', 'invalid-token', 'token-expired', 'token-revoked', 'account-disabled')
  @Refuses('invalid-request', 'unsupported-provider', 'unavailable')
  async unlink(
    @Caller() { accountId }: Access,
    @Param('provider') provider: string,
  ): Promise<SuccessDto> {
    await this.links.unlink(accountId, provider);
    return { success: true };
  }
}
