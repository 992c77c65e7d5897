import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { RateLimitService } from './rate-limit.service.js';

/** Anyone can cause the cost of a login, so logins have their own limit per address. */
@Injectable()
export class LoginRateGuard implements CanActivate {
  constructor(private readonly limits: RateLimitService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.limits.count('loginPerIp', context.switchToHttp().getRequest<FastifyRequest>().ip);
    return true;
  }
}
