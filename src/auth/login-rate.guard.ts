import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { RateLimits } from './rate-limits.js';

/** Login is work that a stranger can ask for: it has a limit of its own, per address. */
@Injectable()
export class LoginRateGuard implements CanActivate {
  constructor(private readonly limits: RateLimits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.limits.count('loginPerIp', context.switchToHttp().getRequest<FastifyRequest>().ip);
    return true;
  }
}
