import { Controller, Get, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../auth/route-access.js';
import { FeaturesService } from './features.service.js';

@ApiTags('discovery')
@Controller('v1/features')
@Public()
export class FeaturesController {
  constructor(private readonly features: FeaturesService) {}

  @ApiOperation({
    summary: 'What this server offers right now: clients ask, they never guess.',
  })
  @ApiResponse({
    status: 200,
    description: 'The discovery document.',
    headers: { etag: { schema: { type: 'string' } } },
    content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
  })
  @ApiResponse({ status: 304, description: 'Unchanged since the `etag` in `if-none-match`.' })
  @Get()
  @RouteConfig({ rateLimit: false, cors: false, answerHeaders: false })
  read(@Res() reply: FastifyReply): void {
    const { request } = reply;
    const { etag, headers, body } = this.features.rendered;
    const ifNoneMatch = request.headers['if-none-match'];
    const isKnown = ifNoneMatch !== undefined && matches(ifNoneMatch, etag);
    // The bytes are ready: composing the answer again costs more than all the rest (ADR 11).
    reply.hijack();
    // RFC 9110, 15.4.5 lets a 304 carry the length of the document it stands for.
    reply.raw.writeHead(isKnown ? 304 : 200, [...headers, 'x-request-id', request.id]);
    reply.raw.end(isKnown ? undefined : body);
  }
}

/** Weak comparison, as `If-None-Match` wants it (RFC 9110, 13.1.2). */
function matches(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch
    .split(',')
    .map((candidate) => candidate.trim().replace(/^W\//, ''))
    .some((candidate) => candidate === etag || candidate === '*');
}
