import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { AccessCache } from '../auth/access-cache.js';
import { AuthService } from '../auth/auth.service.js';
import type { TokenClaims } from '../auth/sessions/access-token.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { AppError, orRefuse } from '../../common/errors.js';
import { SESSION_CLIENT } from '../../core/policy/admission/scopes.js';
import { Clock } from '../../common/runtime/clock.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { ResourceSessionRepository } from '../storage/repositories/oauth/resource-session.repository.js';
import { ResourceTokenService, type ResourceTokenClaims } from './resource-token.service.js';

/** The session that a token names, or the grant in its place. */
type TokenSession = Omit<TokenClaims, 'expiresAt'>;

/** About 300 bytes each. */
const MAX_SESSIONS = 50_000;

/** Decides if a token of a backend is accepted now, with the cache of every other request. */
@Injectable()
export class ResourceAccessService implements OnModuleInit {
  /** By `sid`. A reported end is final, even if the account may use the backend again. */
  private readonly sessions: AccessCache<TokenSession | null>;

  constructor(
    private readonly auth: AuthService,
    private readonly resourceSessions: ResourceSessionRepository,
    private readonly tokens: ResourceTokenService,
    private readonly events: IdentityEvents,
    clock: Clock,
    @Inject(authConfig.KEY) { accessCacheMs }: AuthSettings,
  ) {
    this.sessions = new AccessCache(clock, { maxEntries: MAX_SESSIONS, ttlMs: accessCacheMs });
  }

  onModuleInit(): void {
    this.events.on('access-changed', ({ accountId }) => this.sessions.invalidate(accountId));
    this.events.on('access-changes-missed', () => this.sessions.clear());
  }

  /**
   * @throws AppError `invalid-token` for a token of another audience, an expired one and any other
   *   text; `token-revoked` once its session at the backend has ended; and as
   *   {@link AuthService.authenticateFor}
   */
  async authenticate(token: string, server: ResourceServerSettings): Promise<ResourceTokenClaims> {
    const claims = orRefuse(await this.tokens.verify(token, server), 'invalid-token');
    const session = await this.sessionOf(claims, server);
    if (session?.accountId !== claims.sub) {
      throw new AppError(session === null ? 'token-revoked' : 'invalid-token');
    }
    await this.auth.authenticateFor(server, { ...session, expiresAt: claims.session_exp * 1000 });
    return claims;
  }

  private async sessionOf(
    { sub, sid, client_id: clientId }: ResourceTokenClaims,
    { id, programs }: ResourceServerSettings,
  ): Promise<TokenSession | null> {
    const isOfProgram = clientId !== SESSION_CLIENT;
    if (isOfProgram && programs === null) {
      return null;
    }
    const key = `${id} ${sid}`;
    const known = this.sessions.peek(key);
    const load = () => (isOfProgram ? this.grantOf(sid, id) : this.resourceSessions.find(sid, id));
    return known === undefined ? this.sessions.load(sub, key, load) : known;
  }

  private async grantOf(sid: string, resourceServer: string): Promise<TokenSession | null> {
    const grant = await this.resourceSessions.findGrant(sid, resourceServer);
    return grant && { accountId: grant.accountId, sessionId: grant.id, isGrant: true };
  }
}
