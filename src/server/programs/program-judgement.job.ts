import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AuthService } from '../auth/auth.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { AppError, isUnavailable } from '../../common/errors.js';
import { Clock } from '../../common/runtime/clock.js';
import { IDLE_GRANT_MS } from '../../core/policy/programs/programs.js';
import { DueWork } from '../event-streams/due-work.js';
import type { Transaction } from '../storage/database.service.js';
import { ProgramGrantRepository } from '../storage/repositories/programs/program-grant.repository.js';
import {
  ProgramJudgementRepository,
  type DueGrant,
  type GrantVerdict,
} from '../storage/repositories/programs/program-judgement.repository.js';
import { ProgramServersService } from './program-servers.service.js';

const TICK_MS = 2000;
const COMPARE_EVERY_MS = 60_000;
const BATCH = 200;

/**
 * Judges grants again when an identity changed, an answer grew old or the rules changed. A definite
 * no, an unlinked identity and 30 days without use end the grant; what may pass ends its session at
 * the backend alone, because each outage of a provider would else sign every program out.
 */
@Injectable()
export class ProgramJudgementJob implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(ProgramJudgementJob.name);
  private readonly judging = new DueWork(() => this.judgeOnce());
  private isStopping = false;
  private compareAgainAt = 0;

  constructor(
    private readonly due: ProgramJudgementRepository,
    private readonly grants: ProgramGrantRepository,
    private readonly servers: ProgramServersService,
    private readonly auth: AuthService,
    private readonly events: IdentityEvents,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.events.on('access-changed', ({ sessionId }) => {
      // The end of one session makes no other one due.
      if (sessionId === undefined) {
        void this.run();
      }
    });
    this.events.on('access-changes-missed', () => void this.run());
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.judging.settled();
  }

  /** Starts a run. A call during one causes another. Never rejects. */
  @Interval(TICK_MS)
  run(): Promise<void> {
    return this.judging.run();
  }

  private async judgeOnce(): Promise<void> {
    try {
      await this.compareConfiguration();
      await this.judgeDue();
    } catch (error) {
      if (!isUnavailable(error)) {
        this.logger.error(error);
      }
    }
  }

  /** Replicas with another configuration may store grants, so this is repeated. */
  private async compareConfiguration(): Promise<void> {
    if (this.clock.elapsed() < this.compareAgainAt) {
      return;
    }
    const accepts = (id: string, clientId: string): boolean => this.servers.accepts(id, clientId);
    this.announce(await this.grants.endUnaccepted(accepts, new Date(this.clock.now())));
    for (const { server } of this.servers.all) {
      const rules = this.auth.rulesOf(server);
      let isMore = true;
      while (isMore && !this.isStopping) {
        isMore = await this.due.markOtherRules(server.id, rules, BATCH);
      }
    }
    this.compareAgainAt = this.clock.elapsed() + COMPARE_EVERY_MS;
  }

  private async judgeDue(): Promise<void> {
    const resourceServers = this.servers.all.map(({ server }) => server.id);
    let judged = BATCH;
    while (judged === BATCH && !this.isStopping) {
      const now = new Date(this.clock.now());
      const batch = await this.due.judgeDue({ now, limit: BATCH, resourceServers }, (due, tx) =>
        this.judge(due, tx),
      );
      judged = batch.judged;
      this.announce(batch.changed);
    }
  }

  private async judge(due: readonly DueGrant[], tx: Transaction) {
    const now = this.clock.now();
    const sessions = due.map(({ id, accountId, resourceServer, expiresAt }) => ({
      server: this.servers.find(resourceServer).server,
      session: { accountId, sessionId: id, expiresAt, isGrant: true as const },
    }));
    const verdicts = await this.auth.judgeAllFor(sessions, tx);
    const missing = due.flatMap(({ accountId }, index) => {
      const verdict = verdicts[index];
      const provider = verdict instanceof AppError ? verdict.extras.provider : undefined;
      return provider === undefined ? [] : [{ accountId, provider }];
    });
    const linked =
      missing.length === 0 ? new Set<string>() : await this.due.linkedAmong(tx, missing);
    return due.map((grant, index) => {
      const idleUntil = Math.max(grant.lastUsedAt + IDLE_GRANT_MS, now + TICK_MS);
      const server = sessions[index]?.server;
      const rules = server === undefined ? '' : this.auth.rulesOf(server);
      const verdict = verdicts[index] ?? new AppError('internal');
      return { verdict: verdictOf(grant, verdict, { rules, linked, now }), rules, idleUntil };
    });
  }

  private announce(accountIds: readonly string[]): void {
    for (const accountId of new Set(accountIds)) {
      this.events.announceAccessChange({ accountId });
    }
  }
}

function verdictOf(
  { accountId, lastUsedAt, isOfChange }: DueGrant,
  verdict: AppError | { readonly holdsUntil: number },
  facts: { readonly rules: string; readonly linked: ReadonlySet<string>; readonly now: number },
): GrantVerdict {
  if (lastUsedAt + IDLE_GRANT_MS <= facts.now) {
    return { ends: 'idle' };
  }
  if (!(verdict instanceof AppError)) {
    return { until: verdict.holdsUntil, rules: facts.rules };
  }
  const { code, extras } = verdict;
  const isUnlinked = isOfChange && !facts.linked.has(`${accountId} ${extras.provider ?? ''}`);
  const isPassing = code === 'provider-required' ? !isUnlinked : code === 'keyless-disabled';
  return isPassing ? { lapses: code } : { ends: code };
}
