import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { authConfig } from '../config/auth.config.js';
import { judgeProviders, judgeSession, type AccessFacts } from '../policy/admission/access.js';
import { batched } from '../storage/batched.js';
import {
  LiveAccessRepository,
  type UsedSession,
  type UsedSessionFacts,
} from '../storage/repositories/live-access.repository.js';
import { AccessCache } from './access-cache.js';
import { IdentityEvents } from './identity-events.js';
import { AccessTokens, type TokenClaims } from './sessions/access-token.js';
import { SessionActivity } from './sessions/sessions.service.js';

/** A token that was admitted. */
export interface Access {
  readonly accountId: string;
  readonly sessionId: string;
  /** When the session logged in, Unix milliseconds. */
  readonly loggedInAt: number;
  /** When the token ends, Unix milliseconds. */
  readonly expiresAt: number;
  /** From then on, Unix milliseconds, what the account's identities allow is judged anew. */
  readonly holdsUntil: number;
  /** Why the account is not served for its identities for now; null when it is. */
  readonly providerRefusal: AppError | null;
}

/** What storage says now about a session that was admitted earlier. */
export interface TokenStatus {
  readonly verdict: Access | AppError;
  /** The account's newest update; null when the account is gone. */
  readonly updateSeq: number | null;
}

/** About 500 bytes each. */
const MAX_CACHED_TOKENS = 50_000;

/**
 * The one authentication function, for HTTP and for the handshake alike: signature, disabled,
 * session, required providers, eligibility (of one identity at least where nothing else opens the
 * account), in that order.
 */
@Injectable()
export class AuthService {
  /** Requests answered from the cache, and not. */
  readonly cacheUse = { hits: 0, misses: 0 };
  private readonly cache: AccessCache<Access | AppError>;
  /** By one statement for all tokens that are new here at the same moment. */
  private readonly factsOf = batched(
    async (tokens: readonly TokenClaims[]) => {
      const facts = await this.readFacts(tokens);
      return tokens.map(({ sessionId }) => facts.get(sessionId)?.access ?? null);
    },
    { maxKeys: 500 },
  );

  constructor(
    private readonly tokens: AccessTokens,
    private readonly liveAccess: LiveAccessRepository,
    private readonly activity: SessionActivity,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly config: ConfigType<typeof authConfig>,
    events: IdentityEvents,
  ) {
    this.cache = new AccessCache({
      maxEntries: MAX_CACHED_TOKENS,
      ttlMs: config.accessCacheMs,
    });
    events.on('access-changed', ({ accountId }) => this.cache.invalidate(accountId));
    events.on('access-changes-missed', () => this.cache.clear());
  }

  /**
   * Admits a bearer token. Returns at once, without a promise, when the token is warm.
   *
   * @throws AppError (or rejects with it) `missing-token`, `invalid-token`, `token-expired`,
   *   `token-revoked`, `account-disabled`, `unavailable`
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
    return this.admit(known);
  }

  /**
   * Judges sessions that were admitted earlier against storage, never the cache, by one statement: call
   * it with a bounded number of them.
   *
   * @returns in the order of `accesses`
   * @throws AppError `unavailable`
   */
  async judgeAgain(accesses: readonly Access[]): Promise<TokenStatus[]> {
    const facts = await this.readFacts(accesses);
    const now = this.clock.now();
    return accesses.map((access) => {
      const found = facts.get(access.sessionId);
      const verdict = this.judge(access, found?.access ?? null);
      if (!(verdict instanceof AppError)) {
        // A connection that stays open uses its session.
        this.activity.note(access.sessionId, now);
      }
      return { verdict, updateSeq: found?.updateSeq ?? null };
    });
  }

  /**
   * The number of the account's newest update.
   *
   * @throws AppError `token-revoked` when the account no longer exists, `unavailable`
   */
  updateSeqOf(accountId: string): Promise<number> {
    return this.liveAccess.updateSeqOf(accountId);
  }

  private async authenticateCold(token: string): Promise<Access> {
    const claims = await this.tokens.verify(token);
    const load = async (): Promise<Access | AppError> =>
      this.judge(claims, await this.factsOf(claims));
    return this.admit(await this.cache.load(claims.accountId, token, load));
  }

  private readFacts(sessions: readonly UsedSession[]): Promise<Map<string, UsedSessionFacts>> {
    const needsIdentities = this.config.requiredLoginProviders.length > 0;
    return this.liveAccess.factsOf(sessions, needsIdentities);
  }

  /** A strict deployment stops trusting answers as time goes by, without anything being stored. */
  private stillHolds(verdict: Access | AppError): boolean {
    return verdict instanceof AppError || verdict.holdsUntil > this.clock.now();
  }

  private admit(verdict: Access | AppError): Access {
    if (verdict instanceof AppError) {
      throw verdict;
    }
    const now = this.clock.now();
    if (verdict.expiresAt <= now) {
      throw new AppError('token-expired');
    }
    this.activity.note(verdict.sessionId, now);
    return verdict;
  }

  private judge(session: TokenClaims, facts: AccessFacts | null): Access | AppError {
    const { accountId, sessionId, expiresAt } = session;
    const decision = judgeSession(facts);
    if (!decision.isAllowed) {
      return new AppError(decision.code);
    }
    const { requiredLoginProviders, offboarding } = this.config;
    const now = this.clock.now();
    const account = { isKeyless: true, identities: [], ...facts };
    const providers = judgeProviders(requiredLoginProviders, account, offboarding, now);
    const access = { accountId, sessionId, expiresAt, loggedInAt: decision.loggedInAt };
    if (providers.isAllowed) {
      return { ...access, holdsUntil: providers.until, providerRefusal: null };
    }
    const { code, provider } = providers;
    const refusal = new AppError(code, provider === null ? {} : { provider });
    return { ...access, holdsUntil: Infinity, providerRefusal: refusal };
  }
}
