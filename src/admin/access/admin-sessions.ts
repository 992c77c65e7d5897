import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../../common/clock.js';
import { randomSecret } from '../../common/random-secret.js';
import { adminConfig } from '../../config/admin.config.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import type { AdminCaller } from './admin-caller.js';

/** Logins with a browser. The cookie is the only copy of the secret; storage has its hash. */
@Injectable()
export class AdminSessions {
  /** With the prefix that browsers accept from this very host over TLS alone (RFC 6265bis, 4.1.3.2). */
  private readonly cookie: string;

  constructor(
    private readonly flows: ExternalFlowRepository,
    private readonly clock: Clock,
    @Inject(adminConfig.KEY) private readonly config: ConfigType<typeof adminConfig>,
  ) {
    this.cookie = cookieName('session', this.isSecure);
  }

  /** Whether browsers reach the port over TLS. */
  get isSecure(): boolean {
    return this.config.publicUrl?.startsWith('https:') === true;
  }

  async begin(caller: AdminCaller, reply: FastifyReply): Promise<void> {
    const secret = randomSecret();
    const { sessionMs } = this.config.login;
    const expiresAt = new Date(this.clock.now() + sessionMs);
    await this.flows.add('admin-session', secret, caller, expiresAt);
    void reply.setCookie(this.cookie, secret, {
      ...{ httpOnly: true, secure: this.isSecure, sameSite: 'strict', path: '/' },
      maxAge: sessionMs / 1000,
    });
  }

  secretOf(request: FastifyRequest): string | undefined {
    return request.cookies[this.cookie];
  }

  /** null when the session has ended. */
  callerWith(secret: string): Promise<AdminCaller | null> {
    return this.flows.read<AdminCaller>('admin-session', secret, new Date(this.clock.now()));
  }

  async end(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const secret = this.secretOf(request);
    if (secret !== undefined) {
      await this.flows.drop(secret);
    }
    void reply.clearCookie(this.cookie, { path: '/', secure: this.isSecure });
  }
}

export function cookieName(purpose: string, isSecure: boolean): string {
  return `${isSecure ? '__Host-' : ''}gatehouse-admin-${purpose}`;
}
