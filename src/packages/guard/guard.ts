import type { Timer } from '../../common/runtime/timers.js';
import { isAccess, type Access } from './access.js';
import type { AccessGate, ProtectedResourceMetadata } from './access-gate.js';
import { AccessRefused, type RefusalCode } from './access-refused.js';
import { expressGuard, type ExpressMiddleware } from './adapters/express.js';
import { fastifyGuard, type FastifyPlugin } from './adapters/fastify.js';
import { scopeGuard, type RouteGuard } from './adapters/route.js';
import { guardUpgrades, type UpgradingServer } from './adapters/upgrade.js';
import { metadataUrlOf, type GuardRuntime, type GuardSettings } from './guard-options.js';
import { HeldConnections, type EndReason } from './held-connections.js';
import { IssuerClient } from './issuer/issuer-client.js';
import { Lease } from './lease.js';
import { programRefusal, requiredScopes, type Requirement } from './programs.js';
import { RefusalLog } from './refusal-log.js';
import { EndedSessions } from './event-streams/ended-sessions.js';
import { EventStream } from './event-streams/event-stream.js';
import { Introspector } from './tokens/introspector.js';
import { KeySet } from './tokens/key-set.js';
import { MAX_TOKEN_LENGTH, TokenVerifier } from './tokens/token-verifier.js';

/** The end of one session, or (`sid` null) of everything that the receiver of ends holds. */
export interface Ended {
  readonly sid: string | null;
  readonly reason: EndReason;
}

const TICK_MS = 1000;

/** Admits requests with access tokens of Gatehouse, and reports when their sessions end. */
export class Guard implements AccessGate {
  readonly metadata: ProtectedResourceMetadata;
  readonly metadataUrl: string;
  private readonly initialScope: string | null;
  private readonly held: HeldConnections;
  private readonly lease: Lease;
  private readonly ended: EndedSessions;
  private readonly refusals: RefusalLog;
  private readonly issuer: IssuerClient;
  private readonly verifier: TokenVerifier | Introspector;
  /** null with introspection. */
  private readonly stream: EventStream | null;
  private readonly watchers = new Set<(ended: Ended) => void>();
  private readonly waitingForReady = new Set<() => void>();
  private readonly tick: Timer;
  private state: 'waiting' | 'leased' | 'closed' = 'waiting';

  constructor(
    private readonly settings: GuardSettings,
    private readonly runtime: GuardRuntime,
  ) {
    const { issuer, resource, leaseMs, cacheMs, closeOnTokenExpiry, log } = settings;
    const { initialScopes } = settings;
    const { clock, timers } = runtime;
    this.metadataUrl = metadataUrlOf(resource);
    this.initialScope = initialScopes?.join(' ') ?? null;
    this.metadata = {
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      ...(initialScopes !== null && { scopes_supported: initialScopes }),
    };
    this.held = new HeldConnections(runtime, closeOnTokenExpiry || cacheMs !== null, log);
    this.lease = new Lease(clock, leaseMs);
    this.ended = new EndedSessions(clock);
    const client = new IssuerClient(settings, runtime);
    this.issuer = client;
    const readKeys = async () => client.keySet((await client.issuerMetadata()).keySetUrl);
    const tokens = new TokenVerifier(settings, runtime, new KeySet(readKeys, runtime));
    this.verifier = cacheMs === null ? tokens : new Introspector(settings, runtime, client, tokens);
    this.refusals = new RefusalLog(clock, log);
    this.stream =
      cacheMs === null
        ? new EventStream(settings, runtime, client, {
            onSessionEnded: (sid) => this.endSession(sid),
            onComplete: (sentAt) => this.renew(sentAt),
            onGap: () => this.loseSignals(),
            mayWait: () => this.lease.isValid,
          })
        : null;
    this.stream?.start();
    this.tick = timers.every(TICK_MS, () => this.review());
  }

  /** True while requests can be admitted. */
  get isReady(): boolean {
    return this.state !== 'closed' && (this.stream === null || this.lease.isValid);
  }

  /** Connections that are held, open responses of the adapters included. */
  get heldCount(): number {
    return this.held.count;
  }

  /** Waits until requests can be admitted. @throws AccessRefused if the guard is closed first */
  async ready(): Promise<void> {
    while (!this.isReady) {
      if (this.state === 'closed') {
        throw this.refusal('guard-closed');
      }
      await new Promise<void>((resolve) => this.waitingForReady.add(resolve));
    }
  }

  async verify(bearer: string | null | undefined, requirement: Requirement = {}): Promise<Access> {
    // A mistake in the call is reported for each token.
    requiredScopes(requirement);
    if (typeof (bearer ?? '') !== 'string') {
      // A parameter of an address that is repeated is a list.
      throw this.refusal('invalid-token', 'it is not a text');
    }
    const token = (bearer ?? '').replace(/^Bearer +/i, '').trim();
    if (token === '') {
      throw this.refusal('missing-token');
    }
    if (token.length > MAX_TOKEN_LENGTH) {
      throw this.refusal('invalid-token', 'it is too long');
    }
    this.requireReady();
    const access = await this.verifier.verify(token);
    if ('code' in access) {
      throw this.refusal(access.code, access.reason);
    }
    // The session, or the lease, may have ended while the keys were read.
    this.requireReady();
    if (this.ended.has(access.sid)) {
      throw this.refusal('token-revoked', 'its session has ended');
    }
    this.requirePermission(access, requirement);
    return access;
  }

  requirePermission(access: Access, requirement: Requirement): void {
    const refusal = programRefusal(access, requiredScopes(requirement));
    if (refusal !== null) {
      throw this.refusal(refusal.code, refusal.reason, refusal.scope);
    }
  }

  /** @throws TypeError for what is not an access of this guard, such as one that was stored as JSON */
  hold(access: Access, onEnd: (reason: EndReason) => void): () => void {
    if (!isAccess(access) || typeof onEnd !== 'function') {
      throw new TypeError('hold() needs the access of verify() or accessOf(), and a function.');
    }
    const reason = this.endOf(access);
    const handle = this.held.add(access, onEnd, reason === null);
    if (reason !== null) {
      // Never within this call: `onEnd` may use the returned function.
      queueMicrotask(() => handle.end(reason));
    }
    return () => handle.release();
  }

  /** Reports every end of a session, held or not. @returns ends the reports */
  watch(onEnded: (ended: Ended) => void): () => void {
    this.watchers.add(onEnded);
    return () => void this.watchers.delete(onEnded);
  }

  /**
   * Middleware for Express. `accessOf(request)` returns the access in later handlers.
   *
   * @param requirement admits programs with these scopes; without it none is admitted
   * @throws TypeError for a text that is no list of scopes
   */
  express(requirement: Requirement = {}): ExpressMiddleware {
    return expressGuard(this, this.runtime.timers, requirement);
  }

  /**
   * A plugin for Fastify. `accessOf(request)` returns the access in later handlers.
   *
   * @param requirement as for {@link express}
   */
  fastify(requirement: Requirement = {}): FastifyPlugin {
    return fastifyGuard(this, this.runtime.timers, requirement);
  }

  /**
   * Guards one route: middleware for Express, and a hook (`onRequest`) for Fastify. It needs no other
   * guard before it, but one before it has to admit the program, too.
   *
   * @param scope scopes that a program needs, with spaces between them
   * @throws TypeError for a text that is no list of scopes
   */
  requireScope(scope: string): RouteGuard {
    return scopeGuard(this, this.runtime.timers, scope);
  }

  /**
   * Guards the sockets of an HTTP server, for `ws` and Socket.IO. Call it once. A socket is closed
   * with 4401 when its access ends.
   *
   * @param requirement as for {@link express}
   */
  upgrade(server: UpgradingServer, requirement: Requirement = {}): void {
    guardUpgrades(this, server, this.runtime, requirement);
  }

  requireReady(): void {
    if (this.isReady) {
      return;
    }
    if (this.state === 'closed') {
      throw this.refusal('guard-closed');
    }
    this.stream?.hurry();
    throw this.refusal(this.lease.isExpired ? 'guard-lease-expired' : 'guard-starting');
  }

  refusal(code: RefusalCode, reason?: string, scope = this.initialScope): AccessRefused {
    if (reason !== undefined) {
      this.refusals.write(reason);
    }
    return new AccessRefused(code, this.metadataUrl, scope);
  }

  /** Ends the polling and everything that is held. */
  async close(): Promise<void> {
    if (this.state !== 'closed') {
      this.state = 'closed';
      this.tick.cancel();
      this.lease.drop();
      this.held.endAll('guard-closed');
      this.notify({ sid: null, reason: 'guard-closed' });
      this.wakeWaiting();
      this.issuer.close();
    }
    await this.stream?.close();
  }

  private renew(sentAt: Parameters<Lease['renew']>[0]): void {
    if (this.state === 'closed') {
      return;
    }
    this.lease.renew(sentAt);
    if (!this.lease.isValid) {
      return;
    }
    if (this.state !== 'leased') {
      this.state = 'leased';
      // No signal was lost. Connections that wait for their end because of a gap still end.
      this.held.keepRenewable();
      this.settings.log({ level: 'info', message: 'signals are received' });
    }
    this.wakeWaiting();
  }

  private endSession(sid: string): void {
    this.ended.add(sid);
    this.held.endSession(sid, 'session-revoked');
    this.notify({ sid, reason: 'session-revoked' });
  }

  private loseSignals(): void {
    if (this.state === 'closed') {
      return;
    }
    this.lease.drop();
    this.endAll('guard-gap');
  }

  private endAll(reason: EndReason): void {
    this.state = 'waiting';
    this.settings.log({ level: 'warn', message: 'all held connections are closed', reason });
    this.held.endAllSpread(reason);
    this.notify({ sid: null, reason });
  }

  /** Notices the end of the lease, of sessions and of tokens. */
  private review(): void {
    if (this.state === 'leased' && !this.lease.isValid) {
      this.stream?.hurry();
      this.endAll('guard-lease-expired');
    }
    this.held.endExpired();
    this.ended.removeExpired();
  }

  /**
   * The reason why an access that was verified before has ended meanwhile; null if it has not. The end
   * of a session is remembered only while its tokens are valid, so an expired token is refused unless
   * another connection of the session is held.
   */
  private endOf({ sid, expiresAt }: Access): EndReason | null {
    if (this.state === 'closed') {
      return 'guard-closed';
    }
    if (this.ended.has(sid)) {
      return 'session-revoked';
    }
    if (expiresAt.getTime() <= this.runtime.clock.now() && !this.held.isLive(sid)) {
      return 'token-expired';
    }
    return this.isReady ? null : 'guard-lease-expired';
  }

  private notify(ended: Ended): void {
    for (const watcher of this.watchers) {
      try {
        watcher(ended);
      } catch (error) {
        const reason = error instanceof Error ? error.name : 'unknown';
        this.settings.log({ level: 'warn', message: 'a watcher failed', reason });
      }
    }
  }

  private wakeWaiting(): void {
    const waiting = [...this.waitingForReady];
    this.waitingForReady.clear();
    waiting.forEach((resolve) => resolve());
  }
}
