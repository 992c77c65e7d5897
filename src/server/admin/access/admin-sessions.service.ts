import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { sha256 } from '../../../common/sha256.js';
import { AuditService } from '../../audit/audit.service.js';
import { adminConfig, type AdminSettings } from '../../config/admin.config.js';
import {
  IdentitySignalsService,
  type PendingLogin,
} from '../../identities/identity-signals.service.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import type { AdminCaller } from './admin-caller.js';

const MAX_REMEMBERED = 1000;

interface StoredSession {
  readonly caller: AdminCaller;
  readonly login: PendingLogin;
}

/** Logins with a browser. The cookie is the only copy of the secret; storage has its hash. */
@Injectable()
export class AdminSessionsService {
  /** Browsers accept its prefix only from this host over TLS (RFC 6265bis, 4.1.3.2). */
  private readonly cookie: string;
  /** Hashes of secrets that were accepted here; whether a session still exists, storage says. */
  private readonly accepted = new LRUCache<string, true>({ max: MAX_REMEMBERED });

  constructor(
    private readonly flows: ExternalFlowRepository,
    private readonly signals: IdentitySignalsService,
    private readonly audit: AuditService,
    @Inject(adminConfig.KEY) private readonly config: AdminSettings,
  ) {
    this.cookie = cookieName('session', this.isSecure);
  }

  /** True if browsers reach the port over TLS. */
  get isSecure(): boolean {
    return this.config.publicUrl?.startsWith('https:') === true;
  }

  /** Judges the person's signals. A refusal is stored for the operator. */
  async admitsLogin(login: PendingLogin, address: string): Promise<boolean> {
    return (await this.signals.meet(login, address, 'admin-login-refused')) === null;
  }

  /** Stores the session with its audit event, and sends its cookie. @throws AppError `unavailable` */
  async begin(
    caller: AdminCaller,
    login: PendingLogin,
    address: string,
    reply: FastifyReply,
  ): Promise<void> {
    const { provider } = login;
    await this.audit.record({
      kind: 'admin-logged-in',
      actor: caller.name,
      accountId: null,
      provider,
      address,
      reason: caller.role,
    });
    const { sessionMs } = this.config.login;
    const session: StoredSession = { caller, login };
    const secret = await this.flows.add('admin-session', session, sessionMs);
    void reply.setCookie(this.cookie, secret, {
      httpOnly: true,
      secure: this.isSecure,
      sameSite: 'strict',
      path: '/',
      maxAge: sessionMs / 1000,
    });
  }

  secretOf(request: FastifyRequest): string | undefined {
    return request.cookies[this.cookie];
  }

  /** null when the session has ended, its provider is no longer that of administrators, or refuses the person. */
  async callerWith(secret: string): Promise<AdminCaller | null> {
    const session = await this.flows.read<StoredSession>('admin-session', secret);
    const caller = session !== null && (await this.admits(session)) ? session.caller : null;
    if (session !== null && caller === null) {
      await this.flows.drop(secret);
    }
    if (caller === null) {
      this.accepted.delete(sha256(secret).toString('hex'));
    } else {
      this.accepted.set(sha256(secret).toString('hex'), true);
    }
    return caller;
  }

  /** An earlier version stored no login. */
  private async admits({ login }: Partial<StoredSession>): Promise<boolean> {
    const isOfProvider = login !== undefined && login.provider === this.config.login.provider;
    return isOfProvider && (await this.signals.admits(login));
  }

  /** A key for the limit of a session that was accepted before; null for any other request. */
  limitKeyOf(request: FastifyRequest): string | null {
    const secret = this.secretOf(request);
    const hash = secret === undefined ? null : sha256(secret).toString('hex');
    return hash !== null && this.accepted.has(hash) ? hash : null;
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
