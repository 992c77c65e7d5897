import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import type { AuditEvent } from '../../policy/audit-event.js';
import { judgeEligibility, type EligibilityVerdict } from '../../policy/eligibility.js';
import { judgeLink } from '../../policy/external-link.js';
import type { Authority } from '../../policy/identity-issuer.js';
import { hasKeylessWayIn } from '../../policy/keyless.js';
import { nextCheckAt } from '../../policy/offboarding.js';
import type { ProviderProfile } from '../../providers/identity-provider.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { Database, type Query } from '../../storage/database.js';
import {
  IdentityRepository,
  type IdentityChange,
  type ProvenIdentity,
} from '../../storage/identity.repository.js';
import { externalFlowFacts, type PendingContents } from './external-contents.js';
import { LinkEffects } from './link-effects.js';

/** Another link of the same identity or account can come between once, hardly ever twice. */
const ATTEMPTS = 3;

/** Links identities to accounts, refreshes them and takes them away. */
@Injectable()
export class IdentityLinks {
  constructor(
    private readonly database: Database,
    private readonly identities: IdentityRepository,
    private readonly providers: ProviderRegistry,
    private readonly effects: LinkEffects,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
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
    pending: PendingContents,
  ): Promise<IdentityChange | null> {
    const { provider, subject, facts, checkedAt } = pending;
    const authority = this.authorityOf(provider);
    if (this.judge(provider, pending).status !== 'eligible') {
      throw new AppError('not-eligible', { provider });
    }
    const proven = this.toProven(pending, checkedAt);
    const request = { accountId, subject, authority, login: facts.login, checkedAt };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const met = await this.identities.lockAround(query, accountId, proven);
      const decision = judgeLink(request, met);
      switch (decision.kind) {
        case 'refuse':
          throw new AppError(decision.code, { provider });
        case 'foreign':
          throw this.effects.refuseForeign(provider, decision.issuer);
        case 'refresh':
          await this.identities.refresh(query, accountId, proven);
          return this.noteRefresh(query, accountId, provider, decision.change);
        case 'insert':
          if (await this.identities.insert(query, accountId, proven)) {
            return this.note(query, {
              kind: 'identity-linked',
              actor: 'user',
              accountId,
              provider,
            });
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

  private async noteRefresh(
    query: Query,
    accountId: string,
    provider: string,
    change: 'regained' | 'renamed' | 'none',
  ): Promise<IdentityChange | null> {
    switch (change) {
      case 'none':
        return null;
      case 'renamed':
        return this.identities.noteChange(query, accountId, null, new Date(this.clock.now()));
      case 'regained':
        return this.note(query, {
          kind: 'eligibility-regained',
          actor: 'provider',
          accountId,
          provider,
        });
    }
  }

  private note(
    query: Query,
    event: AuditEvent & { readonly accountId: string },
  ): Promise<IdentityChange | null> {
    return this.identities.noteChange(query, event.accountId, event, new Date(this.clock.now()));
  }

  /**
   * Unlinks at once, everywhere: where the provider is required nobody stays connected.
   *
   * @throws AppError `unsupported-provider`, or `invalid-request` when a keyless account would be
   *   left without a way in
   */
  async unlink(accountId: string, provider: string): Promise<void> {
    const now = new Date(this.clock.now());
    const change = await this.database.transaction(async (query) => {
      const { keyMode, providers } = await this.identities.lockOf(query, accountId);
      if (keyMode === 'keyless' && providers.includes(provider)) {
        this.checkWayIn(providers.filter((other) => other !== provider));
      }
      return this.identities.unlink(query, accountId, provider, now);
    });
    if (change !== null) {
      this.effects.announce(change, 'provider-required', provider);
    } else if (this.providers.get(provider) === undefined) {
      throw new AppError('unsupported-provider');
    }
  }

  private checkWayIn(left: readonly string[]): void {
    const facts = externalFlowFacts(this.settings);
    if (!hasKeylessWayIn(facts, this.settings.mtls.enabled, left)) {
      const message =
        'Nothing else opens this account. Connect another identity first, or delete the account.';
      throw new AppError('invalid-request', { details: [{ path: 'provider', message }] });
    }
  }

  /** Stores a provider's no about an identity that is linked here, if it is, and acts on it. */
  async refuse(
    profile: ProviderProfile & { readonly provider: string },
    reason: string,
  ): Promise<void> {
    const proven = this.toProven({ ...profile, credentials: null }, this.clock.now());
    const change = await this.identities.recordRefusal(proven, reason);
    if (change !== null) {
      this.effects.announce(change, 'not-eligible', profile.provider);
    }
  }

  private toProven(
    identity: Omit<ProvenIdentity, 'authority' | 'checkedAt' | 'nextCheckAt'>,
    checkedAt: number,
  ): ProvenIdentity {
    const { provider, subject, facts, credentials } = identity;
    const { offboarding } = this.settings.auth;
    const next = nextCheckAt(offboarding, checkedAt, Math.random());
    return {
      provider,
      subject,
      authority: this.authorityOf(provider),
      facts,
      credentials,
      checkedAt: new Date(checkedAt),
      nextCheckAt: offboarding.enabled ? new Date(next) : null,
    };
  }
}
