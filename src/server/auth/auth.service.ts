import { createHash } from 'node:crypto';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { momentOf, type Moment } from '../../common/runtime/moment.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import {
  judgeProviders,
  judgeSession,
  type AccessFacts,
} from '../../core/policy/admission/access.js';
import {
  judgeResource,
  type ResourceServerRules,
} from '../../core/policy/admission/resource-server.js';
import { batched } from '../storage/batched.js';
import type { Transaction } from '../storage/database.service.js';
import {
  LiveAccessRepository,
  type UsedSession,
  type UsedSessionFacts,
} from '../storage/repositories/live-access.repository.js';
import { AccessCache } from './access-cache.js';
import { IdentityEvents } from './identity.events.js';
import { AccessTokenService, type TokenClaims } from './sessions/access-token.service.js';
import { SessionActivityService } from './sessions/session-activity.service.js';

export interface Access extends TokenClaims {
  /** Time of the login of the session, Unix milliseconds. */
  readonly loggedInAt: number;
  /** The time in Unix milliseconds at which the account's identities are judged again. */
  readonly holdsUntil: number;
  /** The reason why the account is temporarily refused for its identities; null when it is not. */
  readonly providerRefusal: AppError | null;
  /** The facts were read then or later. */
  readonly readAt: Moment;
}

/** The current state of a session that was admitted earlier. */
export interface TokenStatus {
  readonly verdict: Access | AppError;
  /** `seq` of the account's newest update; null when the account is deleted. */
  readonly updateSeq: number | null;
}

/** About 500 bytes per entry. */
const MAX_CACHED_TOKENS = 50_000;

/**
 * Authenticates requests and handshakes: the signature, the disabled state, the session, required
 * providers and eligibility (one identity of a keyless account), in that order.
 */
@Injectable()
export class AuthService implements OnModuleInit {
  /** Number of requests with and without a cached answer. */
  readonly cacheUse = { hits: 0, misses: 0 };
  private readonly cache: AccessCache<Access | AppError>;
  /** Reads the facts of all simultaneous new tokens by one statement. */
  private readonly factsOf: (token: TokenClaims) => Promise<AccessFacts | null>;

  constructor(
    private readonly tokens: AccessTokenService,
    private readonly liveAccess: LiveAccessRepository,
    private readonly activity: SessionActivityService,
    private readonly runtime: Runtime,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
    private readonly events: IdentityEvents,
  ) {
    this.cache = new AccessCache(runtime.clock, {
      maxEntries: MAX_CACHED_TOKENS,
      ttlMs: config.accessCacheMs,
    });
    this.factsOf = batched(runtime, (tokens) => this.readAccessFacts(tokens), { maxKeys: 500 });
  }

  onModuleInit(): void {
    this.events.on('access-changed', ({ accountId }) => this.cache.invalidate(accountId));
    this.events.on('access-changes-missed', () => this.cache.clear());
  }

  /**
   * Returns synchronously when the token is cached.
   * @throws AppError (or rejects with it) `missing-token`, `invalid-token`, `token-expired`,
   * `token-revoked`, `account-disabled`, `unavailable`
   */
  authenticate(token: string | undefined): Access | Promise<Access> {
    if (token === undefined || token === '') {
      throw new AppError('missing-token');
    }
    const known = this.cache.peek(token);
    if (known === undefined || !this.stillHolds(known)) {
      this.cacheUse.misses += 1;
      return this.authenticateCold(token);
    }
    this.cacheUse.hits += 1;
    return this.requireAccess(known);
  }

  /**
   * Judges a session by the rules of a backend; synchronously when the answer is cached.
   * @returns an access without `providerRefusal`
   * @throws AppError (or rejects with it) as {@link authenticate}, `provider-required`,
   * `not-eligible`, `keyless-disabled`
   */
  authenticateFor(
    resourceServer: ResourceServerRules,
    session: TokenClaims,
  ): Access | Promise<Access> {
    const key = `${resourceServer.id} ${session.sessionId}`;
    const known = this.cache.peek(key);
    if (known !== undefined && this.stillHolds(known)) {
      this.cacheUse.hits += 1;
      return withoutRefusal(this.requireAccess(known));
    }
    this.cacheUse.misses += 1;
    const load = async (readAt: Moment): Promise<Access | AppError> =>
      this.judge(session, await this.factsOf(session), readAt, resourceServer);
    return this.cache
      .load(session.accountId, key, load)
      .then((verdict) => withoutRefusal(this.requireAccess(verdict)));
  }

  /**
   * As {@link authenticateFor}, from storage.
   * @param tx holds the account, so that no end of access is missed until it commits
   */
  async judgeFor(
    resourceServer: ResourceServerRules,
    session: TokenClaims,
    tx?: Transaction,
  ): Promise<Access> {
    const readAt = momentOf(this.runtime.clock);
    const access = await (tx === undefined
      ? this.factsOf(session)
      : this.readFacts([session], tx).then(
          (facts) => facts.get(session.sessionId)?.access ?? null,
        ));
    return withoutRefusal(this.requireAccess(this.judge(session, access, readAt, resourceServer)));
  }

  /**
   * {@link judgeFor} for many, by one statement, which does not count as their use.
   * @returns an access without `providerRefusal`, or the refusal, in the order of `sessions`
   */
  async judgeAllFor(
    sessions: readonly { readonly server: ResourceServerRules; readonly session: TokenClaims }[],
    tx: Transaction,
  ): Promise<(Access | AppError)[]> {
    const readAt = momentOf(this.runtime.clock);
    const facts = await this.readFacts(
      sessions.map(({ session }) => session),
      tx,
    );
    return sessions.map(({ server, session }) => {
      const { access = null } = facts.get(session.sessionId) ?? {};
      const verdict = this.judge(session, access, readAt, server);
      return verdict instanceof AppError ? verdict : (verdict.providerRefusal ?? verdict);
    });
  }

  /** Returns a digest of the rules of a backend and of the server, which changes with them. */
  rulesOf({ requireProviders, allowKeyless }: ResourceServerRules): string {
    const { requiredLoginProviders, offboarding } = this.config;
    const { enabled, intervalSeconds, strict, directories } = offboarding;
    const { keylessLogins } = offboarding;
    const rules = [requireProviders, allowKeyless, requiredLoginProviders, keylessLogins];
    return createHash('sha256')
      .update(JSON.stringify([...rules, enabled, intervalSeconds, strict, ...directories]))
      .digest('base64url');
  }

  /**
   * Checks admitted sessions against storage, by one statement: the caller bounds their number.
   * @returns the results in the order of `accesses`
   * @throws AppError `unavailable`
   */
  async judgeAgain(accesses: readonly Access[]): Promise<TokenStatus[]> {
    const readAt = momentOf(this.runtime.clock);
    const facts = await this.readFacts(accesses);
    const now = this.runtime.clock.now();
    return accesses.map((access) => {
      const found = facts.get(access.sessionId);
      const verdict = this.judge(access, found?.access ?? null, readAt);
      if (!(verdict instanceof AppError)) {
        // A connection that stays open uses its session.
        this.activity.note(access.sessionId, now);
      }
      return { verdict, updateSeq: found?.updateSeq ?? null };
    });
  }

  /** @throws AppError `token-revoked` when the account no longer exists, `unavailable` */
  updateSeqOf(accountId: string): Promise<number> {
    return this.liveAccess.updateSeqOf(accountId);
  }

  private async authenticateCold(token: string): Promise<Access> {
    const claims = this.tokens.verify(token);
    const load = async (readAt: Moment): Promise<Access | AppError> =>
      this.judge(claims, await this.factsOf(claims), readAt);
    return this.requireAccess(await this.cache.load(claims.accountId, token, load));
  }

  private async readAccessFacts(tokens: readonly TokenClaims[]): Promise<(AccessFacts | null)[]> {
    const facts = await this.readFacts(tokens);
    return tokens.map(({ sessionId }) => facts.get(sessionId)?.access ?? null);
  }

  private readFacts(
    sessions: readonly UsedSession[],
    tx?: Transaction,
  ): Promise<Map<string, UsedSessionFacts>> {
    return this.liveAccess.factsOf(sessions, this.config.requiresIdentities, tx);
  }

  /** In strict mode an old answer stops counting as time passes, without a stored change. */
  private stillHolds(verdict: Access | AppError): boolean {
    return verdict instanceof AppError || verdict.holdsUntil > this.runtime.clock.now();
  }

  private requireAccess(verdict: Access | AppError): Access {
    if (verdict instanceof AppError) {
      throw verdict;
    }
    const now = this.runtime.clock.now();
    if (verdict.expiresAt <= now) {
      throw new AppError('token-expired');
    }
    if (verdict.isGrant !== true) {
      this.activity.note(verdict.sessionId, now);
    }
    return verdict;
  }

  /** @param resourceServer whose rules apply too; null = none */
  private judge(
    session: TokenClaims,
    facts: AccessFacts | null,
    readAt: Moment,
    resourceServer: ResourceServerRules | null = null,
  ): Access | AppError {
    const { accountId, sessionId, expiresAt } = session;
    const decision = judgeSession(facts);
    if (!decision.isAllowed) {
      return new AppError(decision.code);
    }
    const { requiredLoginProviders, offboarding } = this.config;
    const now = this.runtime.clock.now();
    const account = { isKeyless: true, identities: [], ...facts };
    const providers =
      resourceServer === null
        ? judgeProviders(requiredLoginProviders, account, offboarding, now)
        : judgeResource(resourceServer, requiredLoginProviders, account, offboarding, now);
    const { loggedInAt } = decision;
    const isGrant = session.isGrant === true && { isGrant: true as const };
    const access = { accountId, sessionId, expiresAt, loggedInAt, readAt, ...isGrant };
    if (providers.isAllowed) {
      return { ...access, holdsUntil: providers.until, providerRefusal: null };
    }
    const { code, provider } = providers;
    const isOutdated = 'isOutdated' in providers && { isOutdated: true as const };
    const refusal = new AppError(code, { ...(provider !== null && { provider }), ...isOutdated });
    return { ...access, holdsUntil: Infinity, providerRefusal: refusal };
  }
}

function withoutRefusal(access: Access): Access {
  if (access.providerRefusal !== null) {
    throw access.providerRefusal;
  }
  return access;
}
