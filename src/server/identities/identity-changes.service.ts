import { Inject, Injectable, Logger } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { AppError } from '../../common/errors.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import type { SignalEffect } from '../storage/repositories/directory/identity-signal.repository.js';
import { isEnd, type AuditEvent, type EndEvent } from '../../core/policy/audit-event.js';
import type { IdentityChange } from '../storage/repositories/identity.repository.js';

/** Announces stored changes to the account's clients, every replica and the audit log. */
@Injectable()
export class IdentityChangesService {
  private readonly logger = new Logger(IdentityChangesService.name);

  constructor(
    private readonly events: IdentityEvents,
    private readonly audit: AuditService,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
  ) {}

  /**
   * @param closes the reason to close live connections if the provider is required; others are only
   * checked. Absent = all stay
   * @returns true if live connections are closed
   */
  announce(
    { accountId, seq, event }: Omit<IdentityChange, 'seq'> & { readonly seq: number | null },
    closes?: 'provider-required' | 'not-eligible',
    provider = '',
  ): boolean {
    // Sent before the connections of this replica end, so that their clients find the reason in the
    // profile. Other replicas check theirs first, and may get the update later.
    if (seq !== null) {
      this.events.emit('identities-changed', accountId, seq);
    }
    const isRequired = this.config.requiredLoginProviders.includes(provider);
    const hasClosed = isRequired && closes !== undefined;
    const judgesConnections = !isRequired && closes !== undefined;
    this.events.announceAccessChange({
      accountId,
      ...(hasClosed && { closes, provider }),
      ...(judgesConnections && { judgesConnections }),
    });
    if (event !== null) {
      this.audit.log(event);
    }
    return hasClosed;
  }

  /** Announces stored ends of sessions and programs for which a provider does not vouch any more. */
  announceEnds(events: readonly EndEvent[]): void {
    for (const event of events) {
      const { accountId, sessionId } = event;
      this.audit.log(event);
      switch (event.kind) {
        case 'token-revoked':
          this.events.announceAccessChange({
            accountId,
            ...(sessionId !== undefined && { sessionId }),
            closes: 'token-revoked',
          });
          break;
        case 'program-ended':
          // Sessions of the account go on: only what was cached of it is dropped.
          this.events.announceAccessChange({ accountId });
          this.events.emit('program-ended', event);
          break;
      }
    }
  }

  /**
   * Announces what a signal about an identity, or its removal, changed.
   * @param closes as in {@link announce}
   */
  announceSignal(
    { accountId, seq, pushTokensSeq, events }: Omit<SignalEffect, 'isOutdated'>,
    provider: string,
    closes: 'provider-required' | 'not-eligible' | undefined,
  ): void {
    const [event = null, ...others] = events;
    this.announce({ accountId, seq, event }, closes, provider);
    if (pushTokensSeq !== null) {
      this.events.emit('push-tokens-changed', accountId, pushTokensSeq);
    }
    this.announceEnds(others.filter(isEnd));
    others.filter((other) => !isEnd(other)).forEach((other) => this.audit.log(other));
  }

  /** Logs a stored event that changed no session. */
  log(event: AuditEvent): void {
    this.audit.log(event);
  }

  /** Logs the identity with which an account was created; no client knows the account yet. */
  logCreation(accountId: string, provider: string): void {
    this.audit.log({ kind: 'identity-linked', actor: 'user', accountId, provider });
  }

  /** @returns the refusal, logged and audited, of a login with an identity of another issuer */
  refuseForeign(provider: string, issuer: string | null): AppError {
    this.logger.warn({ msg: 'login met an identity of another issuer', provider, issuer });
    this.audit.refuse(provider, 'issuer_changed');
    return new AppError('not-eligible', { provider });
  }
}
