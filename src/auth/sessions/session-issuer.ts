import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { authConfig } from '../../config/auth.config.js';
import { MAX_SESSIONS } from '../../policy/admission/access.js';
import type { CertificateRecord } from '../../policy/certificate/certificate-record.js';
import {
  hashOfProviderSession,
  SessionRepository,
  type LoggedInAccount,
  type NewSession,
} from '../../storage/repositories/session.repository.js';
import type { Query } from '../../storage/database.js';
import { IdentityEvents } from '../identity-events.js';
import { AccessTokens } from './access-token.js';
import type { LoginOrigin } from './login-origin.js';

/** The answer to a login (contract, Sign-up and login with a device key). */
export interface Login {
  readonly success: true;
  readonly token: string;
  readonly accountId: string;
  readonly created: boolean;
}

/** What ends a session before the common lifetime is over. */
export interface SessionLimits {
  readonly ttlSeconds: number;
  /** Unix milliseconds; null = the lifetime alone. */
  readonly endsBy: number | null;
  /** The certificate that was shown: its revocation ends the session. */
  readonly certificate: CertificateRecord | null;
}

/** Sessions that may begin beside this one before a surplus is looked for. */
const MARGIN = MAX_SESSIONS / 2;

/** The common end of every login, whatever authenticated it: a stored session and its token. */
@Injectable()
export class SessionIssuer {
  private readonly logger = new Logger(SessionIssuer.name);

  constructor(
    private readonly sessions: SessionRepository,
    private readonly tokens: AccessTokens,
    private readonly events: IdentityEvents,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly config: ConfigType<typeof authConfig>,
  ) {}

  /**
   * A session for the login's own statement to store.
   *
   * @param method `key_challenge`, `mtls`, `device` or a provider's id
   * @param providerSession the provider's own session that the login is part of; null = none is known
   * @param limits absent = the common lifetime
   */
  prepare(
    method: string,
    { client, address }: LoginOrigin,
    providerSession: string | null = null,
    limits?: SessionLimits,
  ): NewSession {
    // The token says both in whole seconds (RFC 7519, 2), and both end together.
    const createdAt = this.clock.now();
    const ttlSeconds = Math.min(this.config.tokenTtlSeconds, limits?.ttlSeconds ?? Infinity);
    const endsBy = Math.floor((limits?.endsBy ?? Infinity) / 1000);
    const expiresAt = Math.min(Math.floor(createdAt / 1000) + ttlSeconds, endsBy) * 1000;
    return {
      id: randomUUID(),
      method,
      createdAt: new Date(createdAt),
      expiresAt: new Date(expiresAt),
      clientName: client?.name ?? null,
      clientPlatform: client?.platform ?? null,
      address,
      providerSession:
        providerSession === null ? null : hashOfProviderSession(method, providerSession),
      certificate: limits?.certificate ?? null,
    };
  }

  /**
   * Stores the session of a login to a known account.
   *
   * @param query of the transaction that decides the login, if any: {@link answer} it after that
   * @throws AppError `token-revoked` when the account is gone
   */
  begin(accountId: string, session: NewSession, query?: Query): Promise<LoggedInAccount> {
    return this.sessions.logInTo(accountId, session, query);
  }

  /**
   * Answers a login whose session is stored.
   *
   * @throws AppError `account-disabled`
   */
  async answer(account: LoggedInAccount, session: NewSession, created: boolean): Promise<Login> {
    if (account.isDisabled) {
      throw new AppError('account-disabled');
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
   * After every login that may have passed the bound, so that the last of many sees them all. The
   * login is stored by now: a fault here must not lose its token, and the next login tries again.
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
