import { Inject, Injectable, Logger } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service.js';
import { AppError } from '../../../common/errors.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import { MAX_SESSIONS } from '../../../core/policy/admission/access.js';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import {
  hashOfProviderSession,
  SessionRepository,
  type LoggedInAccount,
  type NewSession,
  type VouchingSession,
} from '../../storage/repositories/session.repository.js';
import type { Transaction } from '../../storage/database.service.js';
import { IdentityEvents } from '../identity.events.js';
import { AccessTokenService } from './access-token.service.js';
import type { LoginOrigin } from './login-origin.js';

/** The answer to a login (contract, Sign-up and login with a device key). */
export interface Login {
  readonly success: true;
  readonly token: string;
  readonly accountId: string;
  readonly created: boolean;
}

/** Causes that end a session before the common lifetime is over. */
export interface SessionLimits {
  readonly ttlSeconds: number;
  /** Unix milliseconds; null = no other limit than the lifetime. */
  readonly endsBy: number | null;
  /** The presented certificate, whose revocation ends the session. */
  readonly certificate: CertificateRecord | null;
}

/** How a login that is answered later authenticated. */
interface LoginBasis {
  /** The provider's own session that the login is part of. Default: none is known. */
  readonly providerSession?: string | null | undefined;
  /** Default: the common lifetime. */
  readonly limits?: SessionLimits | undefined;
  /** When a code or a pending login was proven, Unix milliseconds. Default: now. */
  readonly authenticatedAt?: number | undefined;
}

/** Sessions that may begin concurrently before a surplus is removed. */
const MARGIN = MAX_SESSIONS / 2;

@Injectable()
export class SessionIssuerService {
  private readonly logger = new Logger(SessionIssuerService.name);

  constructor(
    private readonly sessions: SessionRepository,
    private readonly tokens: AccessTokenService,
    private readonly events: IdentityEvents,
    private readonly audit: AuditService,
    private readonly runtime: Runtime,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
  ) {}

  /** @param method `key_challenge`, `mtls`, `device` or a provider's id */
  prepare(
    method: string,
    { client, address }: LoginOrigin,
    { providerSession = null, limits, authenticatedAt }: LoginBasis = {},
  ): NewSession {
    // The token contains both in whole seconds (RFC 7519, 2), and token and session must end
    // together.
    const createdAt = this.runtime.clock.now();
    const since = Math.min(authenticatedAt ?? createdAt, createdAt);
    const ttlSeconds = Math.min(
      this.config.tokenTtlSeconds,
      limits?.ttlSeconds ?? Infinity,
      client?.sessionSeconds ?? Infinity,
    );
    const endsBy = Math.floor((limits?.endsBy ?? Infinity) / 1000);
    const expiresAt = Math.min(Math.floor(since / 1000) + ttlSeconds, endsBy) * 1000;
    return {
      id: this.runtime.random.uuid(),
      method,
      createdAt: new Date(createdAt),
      expiresAt: new Date(expiresAt),
      clientName: client?.name ?? null,
      clientPlatform: client?.platform ?? null,
      address,
      providerSession:
        providerSession === null ? null : hashOfProviderSession(method, providerSession),
      certificate: limits?.certificate ?? null,
      inherited: since < createdAt ? { authenticatedAt: new Date(since), method } : null,
    };
  }

  /** Another session vouches for this one, which inherits what that rests on and its end. */
  prepareVouched(method: string, origin: LoginOrigin, voucher: VouchingSession): NewSession {
    const { expiresAt, ...inherited } = voucher;
    const session = this.prepare(method, origin);
    const endsAt = Math.min(session.expiresAt.getTime(), expiresAt.getTime());
    return { ...session, ...inherited, expiresAt: new Date(endsAt) };
  }

  /**
   * Stores the session of a login to a known account. Call {@link answer} after `tx`.
   * @throws AppError `token-revoked` when the account is deleted
   */
  begin(accountId: string, session: NewSession, tx?: Transaction): Promise<LoggedInAccount> {
    return this.sessions.logInTo(accountId, session, tx);
  }

  /** @throws AppError `account-disabled` */
  async answer(account: LoggedInAccount, session: NewSession, created: boolean): Promise<Login> {
    if (account.isDisabled) {
      throw new AppError('account-disabled', { accountId: account.id });
    }
    if (account.sessions >= MARGIN) {
      await this.endSurplus(account.id);
    }
    const { method, id: sessionId, address } = session;
    const facts = {
      actor: 'user',
      accountId: account.id,
      provider: method,
      sessionId,
      ...(address !== null && { address }),
    } as const;
    if (created) {
      this.audit.log({ kind: 'signed-up', ...facts });
    }
    this.audit.log({ kind: 'logged-in', ...facts });
    const token = this.tokens.issue(account.id, session);
    return { success: true, token, accountId: account.id, created };
  }

  /**
   * Runs after every login that may exceed the limit, so that the last of many sees all. A failure
   * must not lose the token of a stored login; the next one tries again.
   */
  private async endSurplus(accountId: string): Promise<void> {
    const ended = await this.sessions.endSurplus(accountId).catch((error: unknown) => {
      this.logger.warn({ msg: 'surplus sessions were not ended', error: String(error) });
      return [];
    });
    for (const sessionId of ended) {
      this.events.announceAccessChange({ accountId, sessionId, closes: 'token-revoked' });
    }
  }
}
