import { All, Controller, Inject, Param, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { bearerTokenFrom } from '../auth/authentication.guard.js';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { Public } from '../auth/route-access.js';
import { AppError, invalidRequest, orRefuse } from '../../common/errors.js';
import { isOfPerson } from '../../core/policy/admission/scopes.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { proxyRefusal } from './oauth-refusal.js';
import { ResourceAccessService } from './resource-access.service.js';

const PATH = 'v1/oauth/forward-auth/:id';
/** A subprotocol with a token, for sockets of browsers, which cannot send the header. */
const SUBPROTOCOL = /^bearer\.(.+)$/;
/** A segment of one or two dots, also percent-encoded, or with parameters as some servers read them. */
const DOT_SEGMENT = /(^|[/\\]|%2f|%5c)(\.|%2e){1,2}(?=$|[/\\#;]|%2f|%5c|%3b)/i;

/**
 * Answers a reverse proxy if it may pass on a request: nginx `auth_request`, Traefik `forwardAuth`,
 * Caddy `forward_auth`, Envoy `ext_authz` over HTTP. It never reads the body or the query.
 */
@ApiExcludeController()
@Controller()
@Public()
export class ForwardAuthController {
  constructor(
    private readonly access: ResourceAccessService,
    private readonly limits: RateLimitService,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
  ) {}

  @All([PATH, `${PATH}/*`])
  @RouteConfig({
    ignoresBody: true,
    // An answer to OPTIONS without a credential would let the proxy pass on the request.
    cors: false,
    // Everybody behind a proxy can have its address: only refusals are counted.
    rateLimit: false,
    refusalFormat: proxyRefusal,
    resourceServerRequest: 'forward_auth',
  })
  async check(
    @Param('id') id: string,
    @Req() { raw, ip }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const server = orRefuse(
      this.servers.find((one) => one.id === id),
      'not-found',
    );
    const [path = ''] = (raw.url ?? '').split('?');
    if (DOT_SEGMENT.test(path)) {
      throw invalidRequest('path', 'The path must not contain dot segments.');
    }
    const claims = await this.limits.countRefusals(ip, async () =>
      this.access.authenticate(tokenIn(raw), server),
    );
    if (!isOfPerson(claims)) {
      // The proxy names no scope, and the backend behind it reads none.
      throw new AppError('insufficient-scope');
    }
    void reply.status(200).headers({
      'x-gatehouse-account': claims.sub,
      'x-gatehouse-session': claims.sid,
      'x-gatehouse-login': encodeURIComponent(claims.login ?? ''),
    });
  }
}

/** @throws AppError `missing-token`, or `invalid-request` for more than one credential */
function tokenIn({ headersDistinct }: FastifyRequest['raw']): string {
  // Node would drop the second of two, and the backend may read that one.
  const { authorization = [], 'sec-websocket-protocol': offered = [] } = headersDistinct;
  const protocols = offered
    .flatMap((list) => list.split(','))
    .flatMap((protocol) => SUBPROTOCOL.exec(protocol.trim())?.[1] ?? []);
  if (authorization.length + protocols.length > 1) {
    throw invalidRequest('authorization', 'Send exactly one credential.');
  }
  return orRefuse(protocols[0] ?? bearerTokenFrom(authorization[0]), 'missing-token');
}
