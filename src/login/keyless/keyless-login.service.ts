import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import type { EligibilityFacts, EligibilityVerdict } from '../../policy/eligibility/eligibility.js';
import {
  judgeLink,
  isOfAuthority,
  type Authority,
} from '../../policy/eligibility/identity-link.js';
import { Admission } from '../../auth/admission.js';
import { Database, type Query } from '../../storage/database.js';
import type {
  IdentityChange,
  ProvenIdentity,
} from '../../storage/repositories/identity.repository.js';
import {
  KeylessRepository,
  type IdentityAccount,
} from '../../storage/repositories/keyless.repository.js';
import type { NewSession } from '../../storage/repositories/session.repository.js';
import type { LoggedInAccount } from '../../storage/repositories/session.repository.js';
import { IdentityChanges } from '../../identities/identity-changes.js';
import { IdentityLinks } from '../../identities/identity-links.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import {
  SessionIssuer,
  type Login,
  type SessionLimits,
} from '../../auth/sessions/session-issuer.js';
import { IdentityEvents } from '../../auth/identity-events.js';
import type { CertificateRecord } from '../../policy/certificate/certificate-record.js';

/** It could not be found out whether the certificate is revoked. */
interface UnansweredEligibility {
  readonly status: 'unknown';
  readonly reason: string;
  /** Whether the last answer about this identity stands, if it was a yes. */
  readonly lastAnswerStands: boolean;
}

/** An identity just proven by a provider or a certificate, without a device key. */
export interface KeylessIdentity {
  /** A configured provider's id, or `mtls`. */
  readonly provider: string;
  readonly subject: string;
  /** The issuer; null = a certificate. */
  readonly authority: Authority | null;
  readonly login: string | null;
  /** The verdict of the operator's rules. */
  readonly eligibility: EligibilityVerdict | UnansweredEligibility;
  /** For the re-check; null keeps the stored ones. */
  readonly credentials: string | null;
  /** The certificate that was shown. Default: none. */
  readonly certificate?: CertificateRecord | null;
  /** Limits of the session. Default: the common lifetime. */
  readonly limits?: SessionLimits;
  /** The facts that were judged. Default: the login only. */
  readonly facts?: EligibilityFacts;
  /** The provider's own session, for logout tokens. Default: none is known. */
  readonly providerSession?: string | null;
  /** When the identity was proven, Unix milliseconds. Default: now. */
  readonly checkedAt?: number;
}

/** The account of an identity, found or created by a transaction. */
interface AdmittedIdentity {
  readonly accountId: string;
  readonly provider: string;
  readonly created: boolean;
  readonly change: IdentityChange | null;
  /** Sessions that ended: their certificate is no longer accepted. */
  readonly ended: readonly string[];
}

/** A login decided in a transaction; {@link KeylessLogin.finish} answers it after the commit. */
export interface KeylessSession extends AdmittedIdentity {
  readonly account: LoggedInAccount;
  readonly session: NewSession;
}

/** A concurrent first login can win once, and its account be deleted before the next attempt. */
const ATTEMPTS = 3;
/** A verdict younger than this is not stored again at every login. */
const FRESH_MS = 30_000;

/** Logs in to the account of an identity without device keys, creating it at the first login. */
@Injectable()
export class KeylessLogin {
  constructor(
    private readonly database: Database,
    private readonly keyless: KeylessRepository,
    private readonly links: IdentityLinks,
    private readonly issuer: SessionIssuer,
    private readonly changes: IdentityChanges,
    private readonly events: IdentityEvents,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    private readonly admission: Admission,
  ) {}

  /**
   * With one statement when nothing about the identity changed.
   *
   * @throws AppError `keyless-disabled`, `e2ee-required`, `signup-provider-disabled`,
   *   `not-eligible`, `restore-required`, `account-disabled`, `unavailable`
   */
  async logIn(identity: KeylessIdentity, origin: LoginOrigin): Promise<Login> {
    const lastAnswerStands = standsOnLastAnswer(identity);
    if (!lastAnswerStands) {
      await this.check(identity);
    }
    const { provider, subject, login, authority, credentials, certificate, limits } = identity;
    if (authority === null && credentials === null) {
      this.admission.require(provider, 'login', 'keyless');
      const session = this.issuer.prepare(provider, origin, null, limits);
      const freshAfter = new Date(lastAnswerStands ? 0 : this.clock.now() - FRESH_MS);
      const fingerprint = certificate?.facts.fingerprint ?? null;
      const asked = { provider, subject, login, fingerprint, freshAfter, session };
      const known = await this.keyless.logIn(asked);
      if (known !== null) {
        return this.issuer.answer(known, session, false);
      }
    }
    const begun = await this.database.transaction((query) => this.admit(query, identity, origin));
    return this.finish(begun);
  }

  /**
   * Finds or creates the account, and begins no session.
   *
   * @returns whether it was created
   * @throws AppError what {@link logIn} throws
   */
  async provision(identity: KeylessIdentity): Promise<boolean> {
    await this.check(identity);
    const admitted = await this.database.transaction((query) => this.decide(query, identity));
    this.announce(admitted);
    return admitted.created;
  }

  /**
   * Decides and stores the session in the transaction of the caller.
   *
   * @throws AppError what {@link logIn} throws
   */
  async admit(
    query: Query,
    identity: KeylessIdentity,
    origin: LoginOrigin,
  ): Promise<KeylessSession> {
    const admitted = await this.decide(query, identity);
    const { providerSession, limits } = identity;
    const session = this.issuer.prepare(identity.provider, origin, providerSession, limits);
    const account = await this.issuer.begin(admitted.accountId, session, query);
    return { ...admitted, account, session };
  }

  /** Announces changes and answers the login, after the commit. */
  finish(login: KeylessSession): Promise<Login> {
    this.announce(login);
    return this.issuer.answer(login.account, login.session, login.created);
  }

  /** Applies policy and rules; the refusal of a known identity is stored. */
  private async check(identity: KeylessIdentity): Promise<void> {
    const { provider, eligibility } = identity;
    this.admission.require(provider, 'login', 'keyless');
    if (eligibility.status === 'ineligible') {
      await this.links.refuse(this.toProven(identity), eligibility.reason);
    }
    checkEligible(identity);
  }

  private async decide(query: Query, identity: KeylessIdentity): Promise<AdmittedIdentity> {
    const { provider } = identity;
    this.admission.require(provider, 'login', 'keyless');
    checkEligible(identity);
    const proven = this.toProven(identity);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const known = await this.keyless.lock(query, identity);
      if (known !== null) {
        if (!isOfAuthority(known.identity.issuer, identity.authority)) {
          throw this.changes.refuseForeign(provider, known.identity.issuer);
        }
        checkOpen(known, provider);
        const refreshed = await this.refresh(query, known, proven);
        return { accountId: known.account.id, provider, created: false, ...refreshed };
      }
      this.admission.require(provider, 'provision', 'keyless');
      const accountId = await this.keyless.create(query, proven, new Date(this.clock.now()));
      if (accountId !== null) {
        return { accountId, provider, created: true, change: null, ended: [] };
      }
    }
    throw new AppError('unavailable', { provider });
  }

  private announce({ accountId, provider, created, change, ended }: AdmittedIdentity): void {
    if (change !== null) {
      this.changes.announce(change);
    }
    for (const sessionId of ended) {
      this.audit.log({ kind: 'token-revoked', actor: 'provider', accountId, provider, sessionId });
      this.events.announceAccessChange({ accountId, sessionId, closes: 'token-revoked' });
    }
    if (created) {
      this.audit.log({ kind: 'identity-linked', actor: 'user', accountId, provider });
    }
  }

  /** With another certificate after a refusal, what the refused one began ends. */
  private async refresh(
    query: Query,
    { account, identity, fingerprint }: IdentityAccount,
    proven: ProvenIdentity,
  ): Promise<Pick<AdmittedIdentity, 'change' | 'ended'>> {
    const { provider, subject, authority, facts, checkedAt } = proven;
    const request = { accountId: account.id, subject, authority, login: facts.login };
    const decision = judgeLink({ ...request, checkedAt: checkedAt.getTime() }, [identity]);
    if (decision.kind !== 'refresh') {
      throw new AppError('not-eligible', { provider });
    }
    const isReplaced =
      decision.change === 'regained' && fingerprint !== proven.certificate?.facts.fingerprint;
    const ended =
      proven.certificate !== null && isReplaced
        ? await this.keyless.endSessions(query, account.id, provider)
        : [];
    const change = await this.links.refresh(query, account.id, proven, decision.change);
    return { change, ended };
  }

  private toProven(identity: KeylessIdentity): ProvenIdentity {
    const { provider, subject, authority, login, credentials, certificate = null } = identity;
    const noFacts = { email: null, emailVerified: false, groups: null, memberships: {} };
    const { facts = { ...noFacts, login }, checkedAt = this.clock.now() } = identity;
    const proof = { provider, subject, facts, credentials, certificate, checkedAt };
    return this.links.prove(proof, authority);
  }
}

/** Whether it could not be found out if the identity is still good, and the last answer counts. */
export function standsOnLastAnswer({ eligibility }: KeylessIdentity): boolean {
  return 'lastAnswerStands' in eligibility && eligibility.lastAnswerStands;
}

/** @throws AppError `not-eligible`, or `unavailable` when it is unknown */
function checkEligible({ provider, eligibility }: KeylessIdentity): void {
  if (eligibility.status !== 'eligible') {
    const code = eligibility.status === 'ineligible' ? 'not-eligible' : 'unavailable';
    throw new AppError(code, { provider });
  }
}

/** @throws AppError `restore-required` (the account needs its device key), `account-disabled` */
function checkOpen({ account, keyMode }: IdentityAccount, provider: string): void {
  if (keyMode === 'keyed') {
    throw new AppError('restore-required', { provider });
  }
  if (account.isDisabled) {
    throw new AppError('account-disabled');
  }
}
