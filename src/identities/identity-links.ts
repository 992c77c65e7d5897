import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Admission } from '../auth/admission.js';
import { Clock } from '../common/clock.js';
import { AppError, invalidRequest } from '../common/errors.js';
import { authConfig } from '../config/auth.config.js';
import type { AuditEvent } from '../policy/audit-event.js';
import { judgeEligibility, type EligibilityVerdict } from '../policy/eligibility/eligibility.js';
import { endOf, type CertificateRecord } from '../policy/certificate/certificate-record.js';
import { judgeLink, type Authority } from '../policy/eligibility/identity-link.js';
import { firstCheckAt, nextCheckAt } from '../policy/eligibility/offboarding.js';
import type { ProviderProfile } from '../providers/identity-provider.js';
import { ProviderRegistry } from '../providers/provider-registry.js';
import { Database, type Query } from '../storage/database.js';
import {
  IdentityRepository,
  type IdentityChange,
  type ProvenIdentity,
} from '../storage/repositories/identity.repository.js';
import { IdentityChanges } from './identity-changes.js';

/** A concurrent link of the same identity or account can win once, hardly ever twice. */
const ATTEMPTS = 3;

/** An identity as a provider or a certificate proved it. */
export interface IdentityProof extends Pick<
  ProvenIdentity,
  'provider' | 'subject' | 'facts' | 'credentials'
> {
  /** The certificate that proved it. Default: none. */
  readonly certificate?: CertificateRecord | null;
  /** When it was proven, Unix milliseconds. */
  readonly checkedAt: number;
}

/** Links identities to accounts, refreshes, refuses and unlinks them. */
@Injectable()
export class IdentityLinks {
  constructor(
    private readonly database: Database,
    private readonly identities: IdentityRepository,
    private readonly providers: ProviderRegistry,
    private readonly changes: IdentityChanges,
    private readonly admission: Admission,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
  ) {}

  /** @throws AppError `unsupported-provider` */
  judge(provider: string, person: ProviderProfile): EligibilityVerdict {
    const rules = this.providers.rules(provider);
    if (rules === undefined) {
      throw new AppError('unsupported-provider');
    }
    return judgeEligibility(rules, person);
  }

  /**
   * Links a proven identity, or refreshes it. Announce the change after the transaction.
   *
   * @returns null when the account's clients see no difference
   * @throws AppError `not-eligible`, `provider-already-linked`, `unsupported-provider`,
   *   `unavailable`
   */
  async link(
    query: Query,
    accountId: string,
    proof: IdentityProof,
  ): Promise<IdentityChange | null> {
    const { provider } = proof;
    const authority = this.authorityOf(provider);
    if (this.judge(provider, proof).status !== 'eligible') {
      throw new AppError('not-eligible', { provider });
    }
    return this.linkProven(query, accountId, this.prove(proof, authority));
  }

  /**
   * As {@link link}, for an identity that the caller has judged.
   *
   * @throws AppError `not-eligible`, `provider-already-linked`, `unavailable`
   */
  async linkProven(
    query: Query,
    accountId: string,
    proven: ProvenIdentity,
  ): Promise<IdentityChange | null> {
    const { provider, subject, facts, authority } = proven;
    const checkedAt = proven.checkedAt.getTime();
    const request = { accountId, subject, authority, login: facts.login, checkedAt };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const linked = await this.identities.lockAround(query, accountId, proven);
      const decision = judgeLink(request, linked);
      switch (decision.kind) {
        case 'refuse':
          throw new AppError(decision.code, { provider });
        case 'foreign':
          throw this.changes.refuseForeign(provider, decision.issuer);
        case 'refresh':
          return this.refresh(query, accountId, proven, decision.change);
        case 'insert':
          if (await this.identities.insert(query, accountId, proven)) {
            const kind = 'identity-linked';
            return this.note(query, accountId, { kind, actor: 'user', accountId, provider });
          }
      }
    }
    throw new AppError('unavailable');
  }

  /** @throws AppError `unsupported-provider` */
  authorityOf(provider: string): Authority {
    const authority = this.providers.authority(provider);
    if (authority === undefined) {
      throw new AppError('unsupported-provider');
    }
    return authority;
  }

  /**
   * Stores what was proven anew of an identity that is linked already.
   *
   * @returns null when the account's clients see no difference
   */
  async refresh(
    query: Query,
    accountId: string,
    proven: ProvenIdentity,
    change: 'regained' | 'renamed' | 'none',
  ): Promise<IdentityChange | null> {
    await this.identities.refresh(query, accountId, proven);
    if (change === 'none') {
      return null;
    }
    const { provider } = proven;
    const kind = 'eligibility-regained';
    const event = { kind, actor: 'provider', accountId, provider } as const;
    return this.note(query, accountId, change === 'regained' ? event : null);
  }

  private note(
    query: Query,
    accountId: string,
    event: AuditEvent | null,
  ): Promise<IdentityChange | null> {
    return this.identities.noteChange(query, accountId, event, new Date(this.clock.now()));
  }

  /**
   * Unlinks at once, everywhere: live connections end where the provider is required.
   *
   * @throws AppError `unsupported-provider`, or `invalid-request` when a keyless account would be
   *   left without a way to log in
   */
  async unlink(accountId: string, provider: string): Promise<void> {
    const wasLinked = await this.remove(accountId, provider);
    if (!wasLinked && this.providers.get(provider) === undefined) {
      throw new AppError('unsupported-provider');
    }
  }

  /**
   * As {@link unlink}, for any kind of identity.
   *
   * @returns whether it was linked
   * @throws AppError `invalid-request`
   */
  async remove(accountId: string, provider: string): Promise<boolean> {
    const now = new Date(this.clock.now());
    const change = await this.database.transaction(async (query) => {
      const { keyMode, providers } = await this.identities.lockOf(query, accountId);
      if (keyMode === 'keyless' && providers.includes(provider)) {
        this.checkWayIn(providers.filter((other) => other !== provider));
      }
      return this.identities.unlink(query, accountId, provider, now);
    });
    if (change !== null) {
      this.changes.announce(change, 'provider-required', provider);
    }
    return change !== null;
  }

  private checkWayIn(left: readonly string[]): void {
    if (!left.some((provider) => this.admission.allows(provider, 'login', 'keyless'))) {
      throw invalidRequest(
        'provider',
        'Nothing else opens this account. Connect another identity first, or delete the account.',
      );
    }
  }

  /** Stores the refusal of an identity that is linked here, if it is, and announces it. */
  async refuse(proven: ProvenIdentity, reason: string): Promise<void> {
    const change = await this.identities.recordRefusal(proven, reason);
    if (change !== null) {
      this.changes.announce(change, 'not-eligible', proven.provider);
    }
  }

  /**
   * What is stored of a proof, with the time of the next re-check.
   *
   * @param authority null for a certificate, whose issuer names no subjects here
   */
  prove(proof: IdentityProof, authority: Authority | null): ProvenIdentity {
    const { checkedAt, certificate = null } = proof;
    const { offboarding } = this.auth;
    // A certificate ends by itself, and then at once.
    const dueAt = (at: number): Date | null =>
      offboarding.enabled ? new Date(Math.min(at, (endOf(certificate) ?? Infinity) + 1)) : null;
    return {
      ...proof,
      authority,
      certificate,
      checkedAt: new Date(checkedAt),
      firstCheckAt: dueAt(firstCheckAt(offboarding, checkedAt, Math.random())),
      nextCheckAt: dueAt(nextCheckAt(offboarding, checkedAt)),
    };
  }
}
