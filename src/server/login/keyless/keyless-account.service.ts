import { Injectable } from '@nestjs/common';
import { AdmissionService } from '../../auth/admission.service.js';
import { Clock } from '../../../common/runtime/clock.js';
import { AppError } from '../../../common/errors.js';
import { IdentityChangesService } from '../../identities/identity-changes.service.js';
import { IdentityLinksService } from '../../identities/identity-links.service.js';
import { IdentityProofService } from '../../identities/identity-proof.service.js';
import type { EndEvent } from '../../../core/policy/audit-event.js';
import { judgeLink, isOfAuthority } from '../../../core/policy/eligibility/identity-link.js';
import type { Transaction } from '../../storage/database.service.js';
import type {
  IdentityChange,
  ProvenIdentity,
} from '../../storage/repositories/identity.repository.js';
import {
  KeylessRepository,
  type IdentityAccount,
} from '../../storage/repositories/keyless.repository.js';
import type { KeylessIdentity } from './keyless-identity.js';

/** The account of an identity, found or created by a transaction. */
export interface ResolvedIdentity {
  readonly accountId: string;
  readonly provider: string;
  readonly created: boolean;
  readonly change: IdentityChange | null;
  /** Stored ends of sessions whose certificate is no longer accepted. */
  readonly ended: readonly EndEvent[];
}

/** A concurrent first login can succeed once, and its account be deleted before the next try. */
const ATTEMPTS = 3;
/** Finds the account of an identity without device keys, and creates it at the first login. */
@Injectable()
export class KeylessAccountService {
  constructor(
    private readonly keyless: KeylessRepository,
    private readonly links: IdentityLinksService,
    private readonly proofs: IdentityProofService,
    private readonly changes: IdentityChangesService,
    private readonly admission: AdmissionService,
    private readonly clock: Clock,
  ) {}

  /**
   * Applies policy and rules; the refusal of a known identity is stored.
   * @throws AppError `keyless-disabled`, `e2ee-required`, `not-eligible`, `unavailable`
   */
  async check(identity: KeylessIdentity, address: string | null): Promise<void> {
    const { provider, eligibility } = identity;
    this.admission.require(provider, 'login', 'keyless');
    if (eligibility.status === 'ineligible') {
      await this.proofs.refuse(this.toProven(identity), eligibility.reason, address);
    }
    checkEligible(identity);
  }

  /**
   * Finds or creates the account, in the caller's transaction. {@link announce} changes after it.
   * @throws AppError `keyless-disabled`, `e2ee-required`, `signup-provider-disabled`,
   * `not-eligible`, `restore-required`, `account-disabled`, `unavailable`
   */
  async resolve(tx: Transaction, identity: KeylessIdentity): Promise<ResolvedIdentity> {
    const { provider } = identity;
    this.admission.require(provider, 'login', 'keyless');
    checkEligible(identity);
    const proven = this.toProven(identity);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const known = await this.keyless.lock(tx, identity);
      if (known !== null) {
        if (!isOfAuthority(known.identity.issuer, identity.authority)) {
          throw this.changes.refuseForeign(provider, known.identity.issuer);
        }
        checkOpen(known, provider);
        const refreshed = await this.refresh(tx, known, proven);
        return { accountId: known.account.id, provider, created: false, ...refreshed };
      }
      this.admission.require(provider, 'provision', 'keyless');
      const accountId = await this.keyless.create(tx, proven, new Date(this.clock.now()));
      if (accountId !== null) {
        return { accountId, provider, created: true, change: null, ended: [] };
      }
    }
    throw new AppError('unavailable', { provider });
  }

  announce({ accountId, provider, created, change, ended }: ResolvedIdentity): void {
    if (change !== null) {
      this.changes.announce(change);
    }
    this.changes.announceEnds(ended);
    if (created) {
      this.changes.logCreation(accountId, provider);
    }
  }

  /** With another certificate after a refusal, the sessions of the refused one end. */
  private async refresh(
    tx: Transaction,
    { account, identity, fingerprint }: IdentityAccount,
    proven: ProvenIdentity,
  ): Promise<Pick<ResolvedIdentity, 'change' | 'ended'>> {
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
        ? await this.keyless.endSessions(tx, account.id, provider, new Date(this.clock.now()))
        : [];
    const change = await this.links.refresh(tx, account.id, proven, decision.change);
    return { change, ended };
  }

  private toProven(identity: KeylessIdentity): ProvenIdentity {
    const { provider, subject, authority, login, credentials, certificate = null } = identity;
    const noFacts = { email: null, emailVerified: false, groups: null, memberships: {} };
    const { facts = { ...noFacts, login }, checkedAt } = identity;
    const proof = { provider, subject, facts, credentials, certificate, checkedAt };
    return this.proofs.toProvenIdentity(proof, authority);
  }
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
    throw new AppError('account-disabled', { accountId: account.id });
  }
}
