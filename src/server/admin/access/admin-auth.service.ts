import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { bearerTokenFrom } from '../../auth/authentication.guard.js';
import { AppError } from '../../../common/errors.js';
import { adminConfig, type AdminSettings } from '../../config/admin.config.js';
import type { AdminCaller } from './admin-caller.js';
import { AdminSessionsService } from './admin-sessions.service.js';
import { AdminTlsService } from './admin-tls.service.js';
import { AdminTokensService } from './admin-tokens.service.js';

@Injectable()
export class AdminAuthService {
  constructor(
    private readonly tokens: AdminTokensService,
    private readonly tls: AdminTlsService,
    private readonly sessions: AdminSessionsService,
    @Inject(adminConfig.KEY) private readonly config: AdminSettings,
  ) {}

  /** @throws AppError `missing-token`, `invalid-token`, `token-expired`, `origin-not-allowed` */
  async authenticate(request: FastifyRequest): Promise<AdminCaller> {
    const caller = await this.callerOf(request);
    requireOwnOrigin(request, this.config.publicUrl, caller.method !== 'token');
    return caller;
  }

  /**
   * The key of a limit of its own for a request whose credentials are good, as far as is known
   * without storage; null = its address counts.
   */
  limitKeyOf(request: FastifyRequest): string | null {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      const caller = this.callerWithToken(authorization);
      return caller && `token ${caller.name}`;
    }
    if (this.sessions.secretOf(request) !== undefined) {
      const session = this.sessions.limitKeyOf(request);
      return session && `session ${session}`;
    }
    return this.tls.callerOf(request.raw.socket)?.name ?? null;
  }

  private callerWithToken(authorization: string): AdminCaller | null {
    const token = bearerTokenFrom(authorization);
    return token === undefined ? null : this.tokens.callerWith(token);
  }

  /** An invalid token is refused, whatever else the request carries. */
  private async callerOf(request: FastifyRequest): Promise<AdminCaller> {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      return this.callerWithToken(authorization) ?? refuse('invalid-token');
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

/** Pages on other origins cannot send this header without a preflight, which is never granted. */
const ADMIN_REQUEST_HEADER = 'x-gatehouse-admin';

/**
 * Refuses requests that a page on another origin caused, even with valid credentials.
 * @param publicUrl of the port in browsers; null = that of the request
 * @param isAmbient true if the browser adds the credentials by itself
 * @throws AppError `origin-not-allowed`
 */
function requireOwnOrigin(
  request: FastifyRequest,
  publicUrl: string | null,
  isAmbient: boolean,
): void {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers;
  const address = publicUrl ?? `${request.protocol}://${host}`;
  if (!URL.canParse(address)) {
    throw new AppError('origin-not-allowed');
  }
  const own = new URL(address);
  const isForeignHost = publicUrl !== null && isAmbient && host !== own.host;
  const isForeignOrigin = origin !== undefined && origin !== own.origin;
  const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  // A GET changes nothing, and other origins cannot read its answer.
  const needsHeader = isAmbient && request.method !== 'GET';
  const lacksHeader = needsHeader && request.headers[ADMIN_REQUEST_HEADER] === undefined;
  if (isForeignHost || isForeignOrigin || isForeignSite || lacksHeader) {
    throw new AppError('origin-not-allowed');
  }
}
