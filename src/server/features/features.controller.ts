import { Controller, Get, Headers, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../auth/route-access.js';
import type { FeatureDocument } from '../../core/policy/admission/feature-document.js';
import { FeaturesService } from './features.service.js';

/** The parts that every client needs, of a server without a configuration. */
const EXAMPLE = {
  features: { pushTokens: { enabled: true }, updates: { enabled: true } },
  capabilities: {
    auth: {
      methods: [
        { method: 'key_challenge', action: 'login', mode: 'keyed' },
        { method: 'key_challenge', action: 'provision', mode: 'keyed' },
      ],
      login: { requiredProviders: [], serverChallenge: 'required' },
    },
    encryption: { storagePolicy: 'required_e2ee', defaultAccountMode: 'e2ee' },
    server: { apiVersions: ['v1'] },
  },
} satisfies FeatureDocument;

@ApiTags('discovery')
@Controller('v1/features')
@Public()
export class FeaturesController {
  constructor(private readonly features: FeaturesService) {}

  @ApiOperation({
    summary: 'The sign-ins and features that this server offers right now.',
  })
  @ApiResponse({
    status: 200,
    description: 'The discovery document.',
    headers: { etag: { schema: { type: 'string' } } },
    content: {
      'application/json': {
        schema: { type: 'object', additionalProperties: true },
        example: EXAMPLE,
      },
    },
  })
  @ApiResponse({ status: 304, description: 'Unchanged since the `etag` in `if-none-match`.' })
  @Get()
  // Every client may read the document, as often as it likes; its one CORS header is ready-made.
  @RouteConfig({ rateLimit: false, cors: false })
  read(
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): string | undefined {
    const { etag, headers, body } = this.features.rendered;
    void reply.headers(headers);
    if (ifNoneMatch !== undefined && matches(ifNoneMatch, etag)) {
      void reply.code(304);
      return undefined;
    }
    return body;
  }
}

/** Weak comparison, as `If-None-Match` wants it (RFC 9110, 13.1.2). */
function matches(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch
    .split(',')
    .map((candidate) => candidate.trim().replace(/^W\//, ''))
    .some((candidate) => candidate === etag || candidate === '*');
}
