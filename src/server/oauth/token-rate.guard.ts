import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { CLIENT_CREDENTIALS } from './oauth.dto.js';

/**
 * Counts requests for tokens for their address, also those with a form that is refused. Of backends only
 * refusals count (TokenAnswerService): one that gets no token misses the sessions that end, and others share
 * its address.
 */
@Injectable()
export class TokenRateGuard implements CanActivate {
  constructor(private readonly limits: RateLimitService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { body, ip } = context.switchToHttp().getRequest<FastifyRequest>();
    const { grant_type: type } = (body ?? {}) as Readonly<Record<string, unknown>>;
    if (type !== CLIENT_CREDENTIALS) {
      await this.limits.count('tokenPerIp', ip);
    }
    return true;
  }
}
