import { Body, Controller, Headers, HttpCode, Param, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiConsumes, ApiTags } from '@nestjs/swagger';
import { FORM, JSON_TYPE } from '../../http/request-rules.js';
import { Answers, Refuses, SuccessDto, Summary } from '../../http/route-docs.js';
import { Public } from '../../auth/route-access.js';
import { BackchannelLogoutService } from './backchannel-logout.service.js';
import { GitHubWebhookService } from './github-webhook.service.js';

/** The body is text until its signature was verified. */
const WEBHOOK_LIMIT_BYTES = 262_144;

@ApiTags('provider signals')
@Controller('v1/auth')
@Public()
export class ProviderSignalsController {
  constructor(
    private readonly logouts: BackchannelLogoutService,
    private readonly github: GitHubWebhookService,
  ) {}

  @Summary('A provider reports that a session ended (OpenID Connect Back-Channel Logout 1.0).')
  @Post('backchannel-logout/:provider')
  @RouteConfig({ textBody: FORM })
  @ApiConsumes(FORM)
  @ApiBody({ schema: { type: 'object', properties: { logout_token: { type: 'string' } } } })
  @HttpCode(200)
  @Refuses('not-found', 'unavailable')
  async logOut(@Param('provider') provider: string, @Body() form: string): Promise<void> {
    await this.logouts.logOut(provider, form);
  }

  @Summary('GitHub reports that a user may have left an organisation, a team or the app.')
  @Post('providers/github/webhook')
  @RouteConfig({ textBody: JSON_TYPE, bodyLimitBytes: WEBHOOK_LIMIT_BYTES })
  @ApiConsumes(JSON_TYPE)
  @ApiBody({ schema: { type: 'object' } })
  @Answers(SuccessDto)
  @Refuses('invalid-signature', 'not-found', 'unavailable')
  async webhook(
    @Headers('x-github-event') event: string | undefined,
    @Headers('x-hub-signature-256') signature: string | undefined,
    @Body() body: string,
  ): Promise<SuccessDto> {
    await this.github.receive(event ?? '', signature ?? '', body);
    return { success: true };
  }
}
