import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import type { FastifyRequest } from 'fastify';
import { bearerTokenFrom } from '../../auth/authentication.guard.js';
import { AppError } from '../../common/errors.js';
import { adminConfig } from '../../config/admin.config.js';
import type { AdminCaller } from './admin-caller.js';
import { AdminSessions } from './admin-sessions.js';
import { AdminTls } from './admin-tls.js';
import { AdminTokens } from './admin-tokens.js';
import { requireOwnOrigin } from './request-origin.js';

/** The one authentication of administrators: a token, the session of a browser, or a certificate. */
@Injectable()
export class AdminAuthentication {
  constructor(
    private readonly tokens: AdminTokens,
    private readonly tls: AdminTls,
    private readonly sessions: AdminSessions,
    @Inject(adminConfig.KEY) private readonly config: ConfigType<typeof adminConfig>,
  ) {}

  /** @throws AppError `missing-token`, `invalid-token`, `token-expired`, `origin-not-allowed` */
  async authenticate(request: FastifyRequest): Promise<AdminCaller> {
    const caller = await this.callerOf(request);
    requireOwnOrigin(request, this.config.publicUrl, caller.method !== 'token');
    return caller;
  }

  /** An invalid token is refused, whatever else the request carries. */
  private async callerOf(request: FastifyRequest): Promise<AdminCaller> {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      const token = bearerTokenFrom(authorization);
      const caller = token === undefined ? null : this.tokens.callerWith(token);
      return caller ?? refuse('invalid-token');
    }
    const secret = this.sessions.secretOf(request);
    if (secret !== undefined) {
      return (await this.sessions.callerWith(secret)) ?? refuse('token-expired');
    }
    return this.tls.callerOf(request.raw.socket) ?? refuse('missing-token');
  }
}

function refuse(code: 'invalid-token' | 'token-expired' | 'missing-token'): never {
  throw new AppError(code);
}
