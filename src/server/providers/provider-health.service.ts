import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../common/runtime/clock.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import { providersConfig, type ConfiguredProviders } from '../config/providers.config.js';
import {
  OPERATOR_FAILURES,
  UPSTREAM_FAILURES,
  type UpstreamFailure,
} from './http/upstream-http.js';
import type {
  AuthorizationRequest,
  Exchange,
  IdentityProvider,
  Recheck,
  RecheckSubject,
} from './identity-provider.js';
import { upstreamFailureIn } from './provider-failure.js';

/** No request was sent, so the state of the provider is unchanged. */
type Unsent = 'aborted' | 'circuit_open';

type ProviderCause = Exclude<UpstreamFailure, Unsent> | 'no_refresh_token';

const CAUSES = [
  ...Object.keys(UPSTREAM_FAILURES).filter((one) => one !== 'aborted' && one !== 'circuit_open'),
  'no_refresh_token',
] as readonly ProviderCause[];

interface ProviderFailure {
  /** Unix milliseconds. */
  readonly at: number;
  readonly cause: ProviderCause;
  /** An error code. */
  readonly detail: string | null;
}

/** Logs when a provider starts to fail, when the cause changes, and when it recovers. */
@Injectable()
export class ProviderHealthService {
  private readonly logger = new Logger('Providers');
  private readonly counts = new Map<string, Map<ProviderCause, number>>();
  private readonly failing = new Map<string, ProviderCause>();
  private readonly answered = new Map<string, number>();
  private readonly failures = new Map<string, ProviderFailure>();
  private readonly withoutRefreshToken = new Set<string>();
  private readonly refusedAnswers = new Map<string, string>();

  constructor(
    @Inject(providersConfig.KEY) providers: ConfiguredProviders,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
    private readonly clock: Clock,
  ) {
    // From zero, so that the first failure is an increase.
    providers.forEach(({ id }) => this.counts.set(id, new Map(CAUSES.map((cause) => [cause, 0]))));
  }

  counted() {
    return [...this.counts].flatMap(([provider, causes]) =>
      [...causes].map(([cause, count]) => ({ provider, cause, count })),
    );
  }

  stateOf(provider: string) {
    return {
      /** null = the last request was answered, or none was sent. */
      failingFor: this.failing.get(provider) ?? null,
      /** Unix milliseconds; null = not since the start of the process. */
      lastAnswerAt: this.answered.get(provider) ?? null,
      lastFailure: this.failures.get(provider) ?? null,
    };
  }

  /** @param detail an error code of the failure; never text of an answer */
  failed(provider: string, cause: UpstreamFailure, detail: string | undefined): void {
    if (cause === 'aborted' || cause === 'circuit_open') {
      return;
    }
    this.count(provider, cause);
    this.failures.set(provider, { at: this.clock.now(), cause, detail: detail ?? null });
    if (this.failing.get(provider) === cause) {
      return;
    }
    this.failing.set(provider, cause);
    const facts = { provider, cause, ...(detail !== undefined && { detail }) };
    const msg = `provider failed: ${UPSTREAM_FAILURES[cause]}; ${this.consequence()}`;
    // Only a change of the configuration ends it.
    this.logger[OPERATOR_FAILURES.includes(cause) ? 'error' : 'warn']({ msg, ...facts });
  }

  succeeded(provider: string): void {
    this.answered.set(provider, this.clock.now());
    if (this.failing.delete(provider)) {
      this.logger.log({ msg: 'provider answers again', provider });
    }
  }

  /** Reports an answer about a person that was refused, which leaves the person as they are. */
  refusedAnswer(provider: string, reason: string, detail: string | undefined): void {
    const refusal = `${reason} ${detail}`;
    if (this.refusedAnswers.get(provider) !== refusal) {
      this.refusedAnswers.set(provider, refusal);
      this.logger.warn({
        msg: 'answer of a provider about a person refused',
        provider,
        reason,
        detail,
      });
    }
  }

  /** Reports a login without the required refresh token. Logged once per process. */
  lacksRefreshToken(provider: string): void {
    if (!this.auth.offboarding.enabled) {
      return;
    }
    this.count(provider, 'no_refresh_token');
    if (!this.withoutRefreshToken.has(provider)) {
      this.withoutRefreshToken.add(provider);
      const msg =
        'provider gave no refresh token, so people who leave it are not found until their next login: ' +
        'add the scope offline_access, or "prompt": "consent", or what its documentation asks for';
      this.logger.warn({ msg, provider });
    }
  }

  private count(provider: string, cause: ProviderCause): void {
    const causes = this.counts.get(provider);
    causes?.set(cause, (causes.get(cause) ?? 0) + 1);
  }

  private consequence(): string {
    const { enabled, strict, intervalSeconds } = this.auth.offboarding;
    if (!enabled) {
      return 'logins through it fail';
    }
    return strict
      ? `each person is refused once their last good check is older than ${intervalSeconds} s`
      : 'the last answer about each person counts';
  }
}

/** Counts and logs the failures of a provider for every caller. */
export class ObservedProvider implements IdentityProvider {
  constructor(
    private readonly provider: IdentityProvider,
    private readonly health: ProviderHealthService,
    private readonly keepsCredentials: boolean,
  ) {}

  get id(): string {
    return this.provider.id;
  }

  /** Success is not recorded, because no request may have been sent. */
  authorizationUrl(request: AuthorizationRequest): Promise<URL> {
    return this.provider.authorizationUrl(request).catch((error: unknown) => this.fail(error));
  }

  async exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange> {
    const exchange = await this.provider
      .exchange(callback, request)
      .catch((error: unknown) => this.fail(error));
    this.health.succeeded(this.id);
    if (this.keepsCredentials && exchange.credentials === null) {
      this.health.lacksRefreshToken(this.id);
    }
    return exchange;
  }

  async recheck(subject: RecheckSubject, signal: AbortSignal): Promise<Recheck> {
    const answer = await this.provider.recheck(subject, signal);
    if (answer.outcome !== 'unknown') {
      this.health.succeeded(this.id);
    } else if (Object.hasOwn(UPSTREAM_FAILURES, answer.reason)) {
      this.health.failed(this.id, answer.reason as UpstreamFailure, answer.detail);
    } else {
      this.health.refusedAnswer(this.id, answer.reason, answer.detail);
    }
    return answer;
  }

  private fail(error: unknown): never {
    const upstream = upstreamFailureIn(error);
    if (upstream !== undefined) {
      this.health.failed(this.id, upstream.failure, upstream.detail);
    }
    throw error;
  }
}
