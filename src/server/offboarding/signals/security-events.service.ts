import { Inject, Injectable, Logger } from '@nestjs/common';
import { orRefuse } from '../../../common/errors.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import { IdentityChangesService } from '../../identities/identity-changes.service.js';
import { issuersOf } from '../../../core/policy/eligibility/identity-link.js';
import { knownEvent, type EventEffect } from '../../../core/policy/eligibility/security-events.js';
import { readEventSubject } from '../../../core/policy/eligibility/subject-identifier.js';
import { unavailableBecause, UpstreamError } from '../../providers/http/upstream-http.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import {
  SET_REMEMBERED_MS,
  SetError,
  type ReceivedSet,
  type SecurityEventTokens,
} from '../../providers/signals/security-event-tokens.js';
import {
  ReceivedEventRepository,
  type EventResult,
} from '../../storage/repositories/signals/received-event.repository.js';
import type { StreamNews } from '../../storage/repositories/signals/signal-stream.repository.js';
import { StreamEventsService } from '../streams/stream-events.service.js';
import { RecheckSignalsService } from './recheck-signals.service.js';

const BEARER = /^bearer +(\S+) *$/i;
const MAX_TOKEN_LENGTH = 16_384;

/** Applies the security events of providers (OpenID Shared Signals Framework 1.0). */
@Injectable()
export class SecurityEventsService {
  private readonly logger = new Logger('ProviderSignals');

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly events: ReceivedEventRepository,
    private readonly changes: IdentityChangesService,
    private readonly rechecks: RecheckSignalsService,
    private readonly streams: StreamEventsService,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
  ) {}

  /**
   * Checks the token that a transmitter sends with its deliveries.
   *
   * @throws AppError `not-found`; SetError `authentication_failed`
   */
  async authenticate(provider: string, authorization: string | undefined): Promise<void> {
    await this.tokensOf(provider).authenticate(BEARER.exec(authorization ?? '')?.[1]);
  }

  /**
   * Stores the effect of an event before it is acknowledged.
   *
   * @param now Unix milliseconds
   * @returns with `unsupported` for the kind of an event that this server does not know
   * @throws AppError `not-found`, `unavailable`; SetError
   */
  async accept(provider: string, token: string, now: number) {
    const tokens = this.tokensOf(provider);
    const { transmitter, audience, riskEvents } = tokens.settings;
    const stream = await this.streams.find({ provider, transmitter });
    if (token.length > MAX_TOKEN_LENGTH) {
      throw new SetError('invalid_request', 'The event is too large.');
    }
    const verified = tokens.verify(token, stream?.audiences ?? [audience]);
    const received = await verified.catch((error: unknown) => {
      throw error instanceof UpstreamError ? unavailableBecause(error) : error;
    });
    const { kind, effect } = knownEvent(received.event) ?? { kind: 'unsupported', effect: 'none' };
    const news = stream && this.streams.read(stream, kind, received);
    const applied = effect === 'risk' && riskEvents === 'end-sessions' ? 'sign-out' : effect;
    const result = await this.apply(provider, received, applied, news, now);
    this.announce(provider, result);
    if (result.hasNewStatus) {
      const status = news?.status;
      this.logger.warn({ msg: 'the transmitter changed its stream', provider, status });
    }
    const { outcome } = result;
    const { txn } = received;
    this.logger.log({ msg: 'security event', provider, transmitter, event: kind, outcome, txn });
    return { kind, outcome, happenedAt: received.happenedAt };
  }

  private tokensOf(provider: string): SecurityEventTokens {
    return orRefuse(this.providers.signalTokens(provider).securityEvents, 'not-found');
  }

  private apply(
    provider: string,
    { id: tokenId, subject, at, txn }: ReceivedSet,
    effect: EventEffect,
    news: StreamNews | null,
    now: number,
  ): Promise<EventResult> {
    const authority = this.providers.authority(provider);
    const issuers = authority === undefined ? [] : issuersOf(authority);
    const isAboutStream = effect === 'none';
    const named = isAboutStream ? { names: [], session: null } : readEventSubject(subject, issuers);
    if (named === null) {
      throw new SetError('invalid_request', 'The subject (sub_id) is missing or malformed.');
    }
    const isRequired = this.config.requiredLoginProviders.includes(provider);
    const { transmitter: issuer } = this.tokensOf(provider).settings;
    const origin = { issuer, ...(txn !== null && { signalTxn: txn }) };
    const event = { tokenId, effect, ...named, at: new Date(at), isRequired, origin, news };
    return this.events.apply(provider, event, new Date(now + SET_REMEMBERED_MS), new Date(now));
  }

  private announce(provider: string, { effects, ended, due, events }: EventResult): void {
    for (const effect of effects) {
      const [event] = effect.events;
      const closes = {
        'all-tokens-revoked': 'provider-required',
        'eligibility-lost': 'not-eligible',
      } as const;
      const kind = event?.kind ?? '';
      const hasEnd = kind in closes && !effect.isOutdated;
      const code = hasEnd ? closes[kind as keyof typeof closes] : undefined;
      this.changes.announceSignal(effect, provider, code);
    }
    this.changes.announceEnds(ended);
    events.forEach((event) => this.changes.log(event));
    this.rechecks.recheck(due);
  }
}
