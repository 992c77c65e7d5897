import { Injectable } from '@nestjs/common';
import { AdmissionService } from '../auth/admission.service.js';
import { Clock } from '../../common/runtime/clock.js';
import { AppError } from '../../common/errors.js';
import type { AuditEvent } from '../../core/policy/audit-event.js';
import { judgeLink } from '../../core/policy/eligibility/identity-link.js';
import { holdCaller, type CallingSession } from '../storage/account-row.js';
import { DatabaseService, type Transaction } from '../storage/database.service.js';
import {
  IdentityRepository,
  type IdentityChange,
  type ProvenIdentity,
} from '../storage/repositories/identity.repository.js';
import { endLoginsBy } from '../storage/repositories/session-end.repository.js';
import { IdentityChangesService } from './identity-changes.service.js';
import { IdentityProofService, type IdentityProof } from './identity-proof.service.js';

/** A concurrent link of the same identity or account can succeed once, hardly ever twice. */
const ATTEMPTS = 3;

/** Links identities to accounts, refreshes and unlinks them. */
@Injectable()
export class IdentityLinksService {
  constructor(
    private readonly database: DatabaseService,
    private readonly identities: IdentityRepository,
    private readonly proofs: IdentityProofService,
    private readonly changes: IdentityChangesService,
    private readonly admission: AdmissionService,
    private readonly clock: Clock,
  ) {}

  /**
   * Links or refreshes a proven identity. {@link announce} the change after the transaction.
   * @returns null when the account's clients see no difference
   */
  async link(
    tx: Transaction,
    accountId: string,
    proof: IdentityProof,
  ): Promise<IdentityChange | null> {
    const { provider } = proof;
    const authority = this.proofs.authorityOf(provider);
    if (this.proofs.judge(provider, proof).status !== 'eligible') {
      throw new AppError('not-eligible', { provider });
    }
    return this.linkProven(tx, accountId, this.proofs.toProvenIdentity(proof, authority));
  }

  /**
   * Links a certificate that the caller has judged. `prove` runs in the transaction of the link.
   * @throws AppError `not-eligible`, `provider-already-linked`, `token-revoked`, `unavailable`
   */
  async linkCertificate(
    caller: CallingSession,
    prove: (tx: Transaction) => Promise<IdentityProof>,
  ): Promise<void> {
    const { accountId } = caller;
    const change = await this.database.transaction(async (tx) => {
      const proven = this.proofs.toProvenIdentity(await prove(tx), null);
      const linked = await this.linkProven(tx, accountId, proven);
      await holdCaller(tx, caller);
      return linked;
    });
    this.announce(accountId, change);
  }

  private async linkProven(
    tx: Transaction,
    accountId: string,
    proven: ProvenIdentity,
  ): Promise<IdentityChange | null> {
    const { provider, subject, facts, authority } = proven;
    const checkedAt = proven.checkedAt.getTime();
    const request = { accountId, subject, authority, login: facts.login, checkedAt };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const linked = await this.identities.lockAround(tx, accountId, proven);
      const decision = judgeLink(request, linked);
      switch (decision.kind) {
        case 'refuse':
          throw new AppError(decision.code, { provider });
        case 'foreign':
          throw this.changes.refuseForeign(provider, decision.issuer);
        case 'refresh':
          return this.refresh(tx, accountId, proven, decision.change);
        case 'insert':
          if (await this.identities.insert(tx, accountId, proven)) {
            const kind = 'identity-linked';
            return this.note(tx, accountId, { kind, actor: 'user', accountId, provider });
          }
      }
    }
    throw new AppError('unavailable');
  }

  /** Announces a link. A newer answer of the provider applies at once, even if it looks unchanged. */
  announce(accountId: string, change: IdentityChange | null): void {
    this.changes.announce(change ?? { accountId, seq: null, event: null });
  }

  /** @returns null when the account's clients see no difference */
  async refresh(
    tx: Transaction,
    accountId: string,
    proven: ProvenIdentity,
    change: 'regained' | 'renamed' | 'none',
  ): Promise<IdentityChange | null> {
    await this.identities.refresh(tx, accountId, proven);
    if (change === 'none') {
      return null;
    }
    const { provider } = proven;
    const kind = 'eligibility-regained';
    const event = { kind, actor: 'provider', accountId, provider } as const;
    return this.note(tx, accountId, change === 'regained' ? event : null);
  }

  private note(
    tx: Transaction,
    accountId: string,
    event: AuditEvent | null,
  ): Promise<IdentityChange | null> {
    return this.identities.noteChange(tx, accountId, event, new Date(this.clock.now()));
  }

  /** Ends live connections on every replica where the provider is required. */
  async unlink(caller: CallingSession, provider: string): Promise<void> {
    const wasLinked = await this.remove(caller, provider);
    if (!wasLinked) {
      this.proofs.authorityOf(provider);
    }
  }

  /** @returns true if it was linked. @throws AppError `token-revoked` when the session has ended */
  async remove(caller: CallingSession, provider: string): Promise<boolean> {
    const { accountId } = caller;
    const now = new Date(this.clock.now());
    const effect = await this.database.transaction(async (tx) => {
      const { keyMode, providers } = await this.identities.lockOf(tx, accountId);
      const isKeyless = keyMode === 'keyless';
      if (isKeyless && providers.includes(provider)) {
        this.checkWayIn(providers.filter((other) => other !== provider));
      }
      const change = await this.identities.unlink(tx, accountId, provider, now);
      if (change === null) {
        return null;
      }
      await holdCaller(tx, caller);
      // Nothing else authenticated them, and no signal or check about the identity finds them any more.
      const ended = isKeyless
        ? await endLoginsBy(tx, accountId, provider, now)
        : { events: [], pushTokensSeq: null };
      const events = [...(change.event === null ? [] : [change.event]), ...ended.events];
      return { ...change, ...ended, events };
    });
    if (effect !== null) {
      this.changes.announceSignal(effect, provider, 'provider-required');
    }
    return effect !== null;
  }

  private checkWayIn(left: readonly string[]): void {
    if (!left.some((provider) => this.admission.allows(provider, 'login', 'keyless'))) {
      throw new AppError('last-identity');
    }
  }
}
