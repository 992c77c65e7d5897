import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ChangesState } from '../../http/request-rules.js';
import { Answers, Refuses, SuccessDto, Summary } from '../../http/route-docs.js';
import type { Access } from '../../auth/auth.service.js';
import { Caller, OpenToAnyToken } from '../../auth/route-access.js';
import { NeedsFreshLogin } from '../../auth/sessions/fresh-login.guard.js';
import { IdentityLinksService } from '../../identities/identity-links.service.js';
import { ConnectFinalizeDto, StartAnswerDto, StartDto } from './provider-login.dto.js';
import { ProviderLoginService } from './provider-login.service.js';
import { ProviderStartService } from './provider-start.service.js';

@ApiTags('external providers')
@Controller('v1/connect/external/:provider')
@OpenToAnyToken()
export class ConnectController {
  constructor(
    private readonly starts: ProviderStartService,
    private readonly logins: ProviderLoginService,
    private readonly links: IdentityLinksService,
  ) {}

  @Summary('Begins linking an identity to this account: the address to open, for 10 minutes.')
  @Get('params')
  @NeedsFreshLogin()
  @ChangesState()
  @Answers(StartAnswerDto)
  @Refuses(
    'invalid-request',
    'oauth-not-configured',
    'keyless-disabled',
    'e2ee-required',
    'unsupported-provider',
  )
  async start(
    @Caller() { accountId }: Access,
    @Param('provider') provider: string,
    @Query() { loopbackPort }: StartDto,
  ): Promise<StartAnswerDto> {
    const url = await this.starts.startConnect(provider, accountId, loopbackPort ?? null);
    return { url: url.href };
  }

  @Summary('Links the identity of a `pending`.')
  @Post('finalize')
  @NeedsFreshLogin()
  @Answers(SuccessDto)
  @Refuses(
    'invalid-pending',
    'not-eligible',
    'provider-required',
    'provider-already-linked',
    'unsupported-provider',
  )
  async finalize(
    @Caller() caller: Access,
    @Param('provider') provider: string,
    @Body() { pending }: ConnectFinalizeDto,
  ): Promise<SuccessDto> {
    await this.logins.connect(caller, provider, pending);
    return { success: true };
  }

  @Summary(
    'Unlinks an identity, linked or not.',
    'Where the provider is required, access ends at once, everywhere. Sessions of an account without a device key that began with it end.',
  )
  @Delete()
  @NeedsFreshLogin()
  @Answers(SuccessDto)
  @Refuses('last-identity', 'unsupported-provider')
  async unlink(@Caller() caller: Access, @Param('provider') provider: string): Promise<SuccessDto> {
    await this.links.unlink(caller, provider);
    return { success: true };
  }
}
