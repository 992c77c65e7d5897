import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { AppError } from '../../../common/errors.js';
import { IdentityChangesService } from '../../identities/identity-changes.service.js';
import { IdentityProofService } from '../../identities/identity-proof.service.js';
import { IdentitySignalsService } from '../../identities/identity-signals.service.js';
import { isOfAuthority } from '../../../core/policy/eligibility/identity-link.js';
import { ProviderError, type IdentityProvider } from '../../providers/identity-provider.js';
import { IdentityRepository } from '../../storage/repositories/identity.repository.js';
import type { FlowContents, PendingContents } from './pending-logins.service.js';

/** Exchanges the code of a callback for an identity that the rules allow. */
@Injectable()
export class ProviderExchangeService {
  constructor(
    private readonly identities: IdentityRepository,
    private readonly proofs: IdentityProofService,
    private readonly changes: IdentityChangesService,
    private readonly signals: IdentitySignalsService,
    private readonly clock: Clock,
  ) {}

  /**
   * @param search the query of the redirect as it arrived
   * @returns the proven person, and the identity as it is stored; null = it is linked to no account
   * @throws ProviderError; AppError `not-eligible`
   */
  async prove(provider: IdentityProvider, flow: FlowContents, search: string, address: string) {
    const proven = await this.exchange(provider, flow, search, address);
    const known = await this.identities.find(provider.id, proven.subject);
    if (known !== null && !isOfAuthority(known.issuer, this.proofs.authorityOf(provider.id))) {
      throw this.changes.refuseForeign(provider.id, known.issuer);
    }
    return { proven, known };
  }

  private async exchange(
    provider: IdentityProvider,
    flow: FlowContents,
    search: string,
    address: string,
  ): Promise<PendingContents> {
    // Not the Host header: the redirect URI has to be the registered one.
    const callback = new URL(flow.redirectUri);
    callback.search = search;
    const state = callback.searchParams.get('state') ?? '';
    // Taken before the request, so that a newer refusal takes precedence.
    const checkedAt = this.clock.now();
    const { profile, ...kept } = await provider.exchange(callback, { ...flow, state });
    const verdict = this.proofs.judge(provider.id, profile);
    if (verdict.status === 'unknown') {
      throw new ProviderError('upstream_error', { detail: verdict.reason });
    }
    const { subject, facts } = profile;
    const authority = this.proofs.authorityOf(provider.id);
    if (verdict.status === 'ineligible') {
      const refused = { provider: provider.id, subject, facts, credentials: null };
      const proof = { ...refused, checkedAt: this.clock.now() };
      await this.proofs.refuse(
        this.proofs.toProvenIdentity(proof, authority),
        verdict.reason,
        address,
      );
      throw await this.refusalOf(provider.id, subject, verdict.reason);
    }
    const login = { provider: provider.id, subject, facts, checkedAt };
    const reason = await this.signals.meet(login, address);
    if (reason !== null) {
      throw await this.refusalOf(provider.id, subject, reason);
    }
    const { issuer } = authority;
    const { holder } = flow;
    return { provider: provider.id, issuer, holder, subject, facts, ...kept, checkedAt };
  }

  /** The owner of an account learns the reason. A stranger does not, so that no one tries out the rules. */
  private async refusalOf(provider: string, subject: string, reason: string): Promise<AppError> {
    const known = await this.identities.find(provider, subject);
    const isOwner =
      known !== null && isOfAuthority(known.issuer, this.proofs.authorityOf(provider));
    return new AppError('not-eligible', isOwner ? { accountId: known.accountId, reason } : {});
  }
}
