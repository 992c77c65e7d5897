import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuditLog } from '../../audit/audit-log.js';
import { IdentityEvents } from '../../auth/identity-events.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { parseJson } from '../../common/parse-json.js';
import { authConfig } from '../../config/auth.config.js';
import { readValue } from '../../config/environment/read-values.js';
import { SecretFile } from '../../config/environment/secret-file.js';
import { providersConfig } from '../../config/providers.config.js';
import { removedUserIn } from '../../policy/eligibility/offboarding.js';
import { MAX_LOGOUT_TOKEN_AGE_SECONDS } from '../../providers/identity-provider.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { IdentityDueRepository } from '../../storage/repositories/identity-due.repository.js';
import {
  LOGOUT_REASON,
  ProviderLogoutRepository,
  type EndedSession,
} from '../../storage/repositories/provider-logout.repository.js';

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;
const MAX_TOKEN_LENGTH = 16_384;
/** A used token is remembered for longer than it could pass again, clocks that differ included. */
const REMEMBERED_MS = 2 * MAX_LOGOUT_TOKEN_AGE_SECONDS * 1000;

/**
 * Receives a provider's signal that a session ended or that a user may have left. A named session ends
 * here as well. About the user a signal decides nothing: the identity becomes due and is re-checked at
 * once, so that a forged or mistaken one costs one re-check.
 */
@Injectable()
export class ProviderSignalsService {
  private readonly logger = new Logger('ProviderSignals');

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly identities: IdentityDueRepository,
    private readonly logouts: ProviderLogoutRepository,
    private readonly audit: AuditLog,
    private readonly events: IdentityEvents,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly config: ConfigType<typeof authConfig>,
  ) {}

  /**
   * @throws AppError `not-found` for a provider that sends no logout tokens, `invalid-request`: also for
   *   a token that names no session where nothing is re-checked, `unavailable`
   */
  async logOut(providerId: string, form: string): Promise<void> {
    const provider = this.providers.logoutNotifier(providerId);
    if (provider === undefined) {
      throw new AppError('not-found');
    }
    const [token = '', ...more] = new URLSearchParams(form).getAll('logout_token');
    if (token === '' || more.length > 0 || token.length > MAX_TOKEN_LENGTH) {
      throw new AppError('invalid-request');
    }
    const refuse = (cause: string): never => {
      this.logger.warn({ msg: 'logout token refused', provider: providerId, cause });
      throw new AppError('invalid-request');
    };
    const notice = await provider
      .verifyLogoutToken(token)
      .catch((error: unknown) => refuse(String(error)));
    if (notice.providerSession === null && !this.isOn) {
      return refuse('it names no session, and identities are not re-checked');
    }
    const now = this.clock.now();
    const expiresAt = new Date(now + REMEMBERED_MS);
    const made = await this.logouts.logOut(providerId, notice, expiresAt, new Date(now));
    if (made === null) {
      return refuse('it was used before');
    }
    made.ended.forEach((session) => this.announceEnd(providerId, session));
    this.announce(providerId, made.due);
  }

  private announceEnd(provider: string, { id: sessionId, accountId }: EndedSession): void {
    this.events.announceAccessChange({ accountId, sessionId, closes: 'token-revoked' });
    const event = { kind: 'token-revoked', actor: 'provider', reason: LOGOUT_REASON } as const;
    this.audit.log({ ...event, accountId, provider, sessionId });
  }

  /** Whether signals have an effect: without re-checks there is nothing to bring forward. */
  get isOn(): boolean {
    return this.config.offboarding.enabled;
  }

  async makeDue(provider: string, subject: string): Promise<void> {
    this.announce(provider, await this.identities.makeDue(provider, subject));
  }

  private announce(provider: string, made: number): void {
    this.logger.log({ msg: 'push signal', provider, identities: made });
    if (made > 0) {
      this.events.emit('identities-due');
    }
  }
}

/** GitHub's organisation webhook. A delivery that arrives twice costs a second re-check and nothing else. */
@Injectable()
export class GitHubWebhookService {
  private readonly secret: SecretFile<string | null>;

  constructor(
    private readonly signals: ProviderSignalsService,
    @Inject(providersConfig.KEY) config: ConfigType<typeof providersConfig>,
  ) {
    const github = config.find((one) => one.type === 'github');
    const { webhookSecret = null, webhookSecretFile = null } = github ?? {};
    this.secret = new SecretFile(webhookSecret, webhookSecretFile, (text) =>
      readValue('AUTH_GITHUB_WEBHOOK_SECRET', text),
    );
  }

  /**
   * @param body as it arrived: the signature is over its bytes
   * @throws AppError `not-found` where the webhook is off, `invalid-signature`, `invalid-request`
   */
  async receive(event: string, signature: string, body: string): Promise<void> {
    const secret = await this.secret.current();
    if (secret === null || !this.signals.isOn) {
      throw new AppError('not-found');
    }
    const given = SIGNATURE.exec(signature)?.[1];
    const expected = createHmac('sha256', secret).update(body).digest();
    if (given === undefined || !timingSafeEqual(Buffer.from(given, 'hex'), expected)) {
      throw new AppError('invalid-signature');
    }
    const payload = parseJson(body);
    if (payload === undefined) {
      throw new AppError('invalid-request');
    }
    const removed = removedUserIn(event, payload);
    if (removed !== null) {
      await this.signals.makeDue('github', removed);
    }
  }
}
