import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AuthService, type Access } from '../auth/auth.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { AppError, logUnlessUnavailable } from '../../common/errors.js';
import { DrainEvents } from '../../common/runtime/drain.events.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { batched } from '../storage/batched.js';
import {
  AgentRequestRepository,
  type AnsweredRequest,
} from '../storage/repositories/approvals/agent-request.repository.js';
import { RequestWait } from './request-wait.js';

/** Finds changes of other replicas without messages between them. */
const LOOK_EVERY_MS = 2000;
const LOOK_AT_ONCE = 1000;
const JUDGE_AT_ONCE = 500;
const MAX_WAITS_OF_SESSION = 10;
/** About 30 kB each, most of it the connection. */
const MAX_WAITS = 50_000;

/**
 * Calls that wait for a request. A wait holds no connection to the database. Its session is checked
 * again before it answers, and at once when access of the account changes.
 */
@Injectable()
export class RequestWaitsService implements OnModuleInit {
  private readonly logger = new Logger(RequestWaitsService.name);
  private readonly waitsOf = new Map<string, Set<RequestWait>>();
  private readonly judgeAgain: (access: Access) => Promise<Access | AppError>;
  private looking: Promise<void> | null = null;
  private count = 0;

  constructor(
    private readonly requests: AgentRequestRepository,
    auth: AuthService,
    private readonly events: IdentityEvents,
    private readonly runtime: Runtime,
    private readonly drain: DrainEvents,
    private readonly metrics: MetricsService,
  ) {
    const judgeAll = async (accesses: readonly Access[]): Promise<(Access | AppError)[]> =>
      (await auth.judgeAgain(accesses)).map(({ verdict }) => verdict);
    this.judgeAgain = batched(runtime, judgeAll, { maxKeys: JUDGE_AT_ONCE });
  }

  onModuleInit(): void {
    this.events.on('request-changed', ({ accountId, requestId }) =>
      this.wake(accountId, ({ id }) => id === requestId),
    );
    this.events.on('access-changed', ({ accountId, sessionId }) =>
      this.wake(
        accountId,
        ({ access }) => sessionId === undefined || access.sessionId === sessionId,
      ),
    );
    this.events.on('access-changes-missed', () => this.wakeAll());
    this.drain.signal.addEventListener('abort', () => this.wakeAll());
    this.metrics.observe(
      'gatehouse_agent_request_waits',
      'Calls of this process that wait for an answer to a request.',
      () => this.count,
    );
  }

  /**
   * Returns the request once it has an answer or is no longer open, at the latest after `ms`.
   *
   * @param gone aborts when the client disconnects
   * @returns null if the account has no such request
   * @throws AppError `rate-limited`, `unavailable`, and why the session was refused meanwhile
   */
  async until(
    access: Access,
    id: string,
    ms: number,
    gone: AbortSignal,
  ): Promise<AnsweredRequest | null> {
    const { clock, timers } = this.runtime;
    const wait = new RequestWait(access, id, timers);
    this.add(wait);
    const wake = (): void => wait.wake();
    gone.addEventListener('abort', wake);
    try {
      const isLate = this.drain.signal.aborted;
      const deadline = clock.elapsed() + this.drain.limit(ms);
      let found = await this.requests.find(access.accountId, id);
      while (found?.state === 'open' && found.answers.length === 0) {
        const left = Math.min(deadline - clock.elapsed(), found.expiresAt - clock.now());
        const isDrained = this.drain.signal.aborted && !isLate;
        if (left <= 0 || isDrained || gone.aborted) {
          break;
        }
        await wait.next(left);
        await this.requireAccess(access);
        found = await this.requests.find(access.accountId, id);
      }
      return found;
    } finally {
      gone.removeEventListener('abort', wake);
      this.remove(wait);
    }
  }

  /** Looks for changes of the requests that calls wait for. */
  @Interval(LOOK_EVERY_MS)
  async look(): Promise<void> {
    this.looking ??= logUnlessUnavailable(this.logger, () => this.lookAtAll()).finally(
      () => (this.looking = null),
    );
    await this.looking;
  }

  private async lookAtAll(): Promise<void> {
    const sleeping = this.all().filter((wait) => wait.isSleeping);
    for (let start = 0; start < sleeping.length; start += LOOK_AT_ONCE) {
      const keys = sleeping.slice(start, start + LOOK_AT_ONCE);
      const changed = await this.requests.changedAmong(
        keys.map(({ access: { accountId }, id }) => ({ accountId, id })),
      );
      for (const { accountId, id } of changed) {
        this.wake(accountId, (wait) => wait.id === id);
      }
    }
  }

  /** @throws AppError */
  private async requireAccess(access: Access): Promise<void> {
    if (access.expiresAt <= this.runtime.clock.now()) {
      throw new AppError('token-expired');
    }
    const verdict = await this.judgeAgain(access);
    if (verdict instanceof AppError) {
      throw verdict;
    }
    if (verdict.providerRefusal !== null) {
      throw verdict.providerRefusal;
    }
  }

  private add(wait: RequestWait): void {
    const { accountId, sessionId } = wait.access;
    const waits = this.waitsOf.get(accountId) ?? new Set();
    const ofSession = [...waits].filter((one) => one.access.sessionId === sessionId);
    if (ofSession.length >= MAX_WAITS_OF_SESSION) {
      throw new AppError('rate-limited');
    }
    if (this.count >= MAX_WAITS) {
      throw new AppError('unavailable');
    }
    this.waitsOf.set(accountId, waits.add(wait));
    this.count += 1;
  }

  private remove(wait: RequestWait): void {
    const waits = this.waitsOf.get(wait.access.accountId);
    waits?.delete(wait);
    this.count -= 1;
    if (waits?.size === 0) {
      this.waitsOf.delete(wait.access.accountId);
    }
  }

  private wake(accountId: string, isMeant: (wait: RequestWait) => boolean): void {
    for (const wait of this.waitsOf.get(accountId) ?? []) {
      if (isMeant(wait)) {
        wait.wake();
      }
    }
  }

  private wakeAll(): void {
    this.all().forEach((wait) => wait.wake());
  }

  private all(): RequestWait[] {
    return [...this.waitsOf.values()].flatMap((waits) => [...waits]);
  }
}
