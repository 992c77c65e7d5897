import {
  Body,
  Controller,
  Get,
  Headers,
  Inject,
  Ip,
  Post,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBasicAuth, ApiBearerAuth, ApiConsumes, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '../auth/route-access.js';
import { AppError } from '../../common/errors.js';
import { FORM } from '../http/request-rules.js';
import { Answers, Refuses, Summary } from '../http/route-docs.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { acceptsPrograms } from '../../core/policy/programs/programs.js';
import { OFFLINE_ACCESS } from '../../core/policy/programs/program-scopes.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import { SIGNATURE_ALGORITHMS } from '../config/providers-file/provider-settings.js';
import { CLIENT_AUTHENTICATION_METHODS } from './client-authentication.service.js';
import { CLIENT_SCOPES } from './client-token.service.js';
import { IntrospectionService } from './introspection.service.js';
import {
  IntrospectionDto,
  IntrospectionForm,
  JwkSetDto,
  ServerMetadataDto,
  TokenDto,
  TokenForm,
} from './oauth.dto.js';
import { oauthRefusal } from './oauth-refusal.js';
import { ResourceServerOutcomesService } from './resource-server-outcomes.service.js';
import { SigningKeysService } from './signing-keys.service.js';
import { TokenAnswerService } from './token-answer.service.js';
import { TokenRateGuard } from './token-rate.guard.js';

/** Receivers may keep the key set for so long; a new key is published a day ahead. */
const KEY_SET_MAX_AGE_SECONDS = 300;
const FORM_ROUTE = { formBody: true, refusalFormat: oauthRefusal } as const;

@ApiTags('resource servers')
@Controller()
@Public()
export class OAuthController {
  constructor(
    private readonly tokens: TokenAnswerService,
    private readonly introspections: IntrospectionService,
    private readonly outcomes: ResourceServerOutcomesService,
    private readonly keys: SigningKeysService,
    @Inject(httpConfig.KEY) private readonly http: HttpSettings,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
  ) {}

  @Summary('The metadata of this authorization server (RFC 8414).')
  @Get('.well-known/oauth-authorization-server')
  @RouteConfig({ rateLimit: false })
  @Answers(ServerMetadataDto)
  metadata(): ServerMetadataDto {
    const issuer = this.http.publicUrl ?? '';
    return {
      issuer,
      token_endpoint: `${issuer}/v1/oauth/token`,
      jwks_uri: `${issuer}/v1/oauth/jwks`,
      introspection_endpoint: `${issuer}/v1/oauth/introspect`,
      scopes_supported: [...CLIENT_SCOPES],
      response_types_supported: [],
      grant_types_supported: [...this.tokens.grantTypes],
      token_endpoint_auth_methods_supported: ['none', ...CLIENT_AUTHENTICATION_METHODS],
      token_endpoint_auth_signing_alg_values_supported: [...SIGNATURE_ALGORITHMS],
      introspection_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION_METHODS],
      introspection_endpoint_auth_signing_alg_values_supported: [...SIGNATURE_ALGORITHMS],
      ...(acceptsPrograms(this.servers) && programMetadata(issuer)),
    };
  }

  @Summary('The public keys of access tokens for backends (RFC 7517).')
  @Get('v1/oauth/jwks')
  // A backend that cannot read the keys admits no request, and others share its address.
  @RouteConfig({ rateLimit: false })
  @Answers(JwkSetDto)
  @Refuses('unavailable')
  keySet(@Res({ passthrough: true }) reply: FastifyReply): JwkSetDto {
    const keys = this.keys.published;
    if (keys.length === 0) {
      throw new AppError('unavailable');
    }
    void reply.header('cache-control', `public, max-age=${KEY_SET_MAX_AGE_SECONDS}`);
    return { keys };
  }

  @Summary(
    'Exchanges the token of a session for a token of a backend (RFC 8693).',
    'The session is the only proof of an exchange: there is no client authentication. A backend that authenticates gets a token of its own with `grant_type=client_credentials` (RFC 6749, 4.4).',
  )
  @Post('v1/oauth/token')
  @UseGuards(TokenRateGuard)
  @RouteConfig({ ...FORM_ROUTE, rateLimit: false, resourceServerRequest: 'token' })
  @ApiConsumes(FORM)
  @Answers(TokenDto)
  @Refuses(
    'invalid-target',
    'unsupported-grant-type',
    'invalid-client',
    'invalid-scope',
    'invalid-grant',
    'rate-limited',
    'unavailable',
  )
  async token(
    @Headers('authorization') authorization: string | undefined,
    @Body() form: TokenForm,
    @Ip() address: string,
  ): Promise<TokenDto> {
    return this.tokens.answer(form, { authorization, address });
  }

  @Summary('Answers if a token of the calling backend is valid now (RFC 7662).')
  @Post('v1/oauth/introspect')
  // Backends share addresses: each has a limit of its own.
  @RouteConfig({ ...FORM_ROUTE, rateLimit: false, resourceServerRequest: 'introspection' })
  @ApiConsumes(FORM)
  @ApiBasicAuth()
  @ApiBearerAuth()
  @Answers(IntrospectionDto)
  @Refuses('invalid-client', 'insufficient-scope', 'rate-limited', 'unavailable')
  async introspect(
    @Headers('authorization') authorization: string | undefined,
    @Body() form: IntrospectionForm,
    @Req() request: FastifyRequest,
  ): Promise<IntrospectionDto> {
    const { server, answer } = await this.introspections.introspect(
      authorization,
      form,
      request.ip,
    );
    this.outcomes.note(request, server.id, answer.active ? 'ok' : 'inactive');
    return answer;
  }
}

/** Never the scopes of a backend: clients ask for all that they see (RFC 8414, RFC 9207). */
function programMetadata(issuer: string): Partial<ServerMetadataDto> {
  return {
    authorization_endpoint: `${issuer}/v1/oauth/authorize`,
    revocation_endpoint: `${issuer}/v1/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: ['none'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: [OFFLINE_ACCESS],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  };
}
